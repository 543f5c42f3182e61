-- The live build (old_…) and its possible successor (new_…), for checks/gates/. Python makes the tables <side>_prices
-- (views/prices), <side>_sets (id, name), <side>_tables (table, rows), <side>_bulk (one row per table of the bulk files,
-- `content` its name, `lake_table` the lake's name of it, and `records` in all its files; and one per column, `content` its
-- table, name and type), <side>_identifiers (scheme, id_product), <side>_indexes (views/market_indexes) and <side>_build (one
-- row: as_of, guide_day), <side>_links, and <side>_fingerprints (empty if both sides have the same). The tables of the old side are
-- empty if no build is live. week_prices are those of a build of about a week before, empty if the store has none,
-- before_prices those of the build that was live before the live one. unread_days are rows of the price guide: the last days, but
-- the newest, that the new build read and the live one did not; live_days what the live one has of the same days.

-- A part of a whole. Parts below 3 count as none, because one product of a small lake would be a large share of it.
create or replace macro share(part, whole) as case when part < 3 then 0.0 else part / whole end;

-- How a message names a game; '' stands for none.
create or replace macro game_in_words(game) as
case when game = '' then 'the products without a game' else 'the game "' || game || '"' end;

-- The products of the live build. `game_now` is the game that a product has there, or else in the new build, so that a
-- product that gets a game is no loss to those without one; '' for none.
create or replace view old_games as
select o.*, coalesce(o.game, n.game, '') as game_now
from old_prices as o left join new_prices as n using (id_product);

-- The games that have a row on the newest day of the price guide. Gates that count what that day lacks leave the others out:
-- they are held or late, which the night says.
create or replace view games_of_the_day as
select distinct coalesce(o.game_now, n.game, '') as game_now
from new_prices as n left join old_games as o using (id_product)
where n.guide_day = (select max(guide_day) from new_prices);

-- One row per product of both builds and price: the price in each build.
create or replace view price_pairs as
select 'trend' as price, id_product, o.trend as old, n.trend as new
from old_prices as o join new_prices as n using (id_product)
union all
select 'low', id_product, o.low, n.low
from old_prices as o join new_prices as n using (id_product)
union all
select 'avg', id_product, o.avg, n.avg
from old_prices as o join new_prices as n using (id_product)
union all
select 'filtered', id_product, o.filtered, n.filtered
from old_prices as o join new_prices as n using (id_product);

-- One row per product of both builds and column of the price guide: its game (see old_games) and its set in the
-- live build, and the price in each build. Prices that neither build has are left out.
create or replace table guide_pairs as
select * from (
    select o.game_now as game, o.id_expansion, id_product, unnest([
    {'price': 'trend', 'old': o.trend, 'new': n.trend},
    {'price': 'low', 'old': o.low, 'new': n.low},
    {'price': 'avg', 'old': o.avg, 'new': n.avg},
    {'price': 'avg1', 'old': o.avg1, 'new': n.avg1},
    {'price': 'avg7', 'old': o.avg7, 'new': n.avg7},
    {'price': 'avg30', 'old': o.avg30, 'new': n.avg30},
    {'price': 'trend_holo', 'old': o.trend_holo, 'new': n.trend_holo},
    {'price': 'low_holo', 'old': o.low_holo, 'new': n.low_holo},
    {'price': 'avg_holo', 'old': o.avg_holo, 'new': n.avg_holo},
    {'price': 'avg1_holo', 'old': o.avg1_holo, 'new': n.avg1_holo},
    {'price': 'avg7_holo', 'old': o.avg7_holo, 'new': n.avg7_holo},
    {'price': 'avg30_holo', 'old': o.avg30_holo, 'new': n.avg30_holo}
    ], recursive := true)
    from old_games as o join new_prices as n using (id_product)
)
where old is not null or new is not null;

-- Whether a game or a set has enough prices to be judged by itself (variable enough_prices).
create or replace macro enough(prices) as prices >= getvariable('enough_prices')::bigint;

-- Whether a game has enough prices that most of them stay as they are on ordinary nights (variable enough_priced).
create or replace macro enough_for_a_game(prices) as prices >= getvariable('enough_priced')::bigint;

-- Whether a column of the price guide moves slowly: it covers several days.
create or replace macro steady(price) as price in ('trend', 'avg7', 'avg30', 'trend_holo', 'avg7_holo', 'avg30_holo');

-- The same as guide_pairs for the columns that are compared with earlier builds too, with the price in the one of about a week
-- before and in the one before the live one.
create or replace table past_pairs as
select * from (
    select o.game_now as game, unnest([
    {'price': 'trend', 'before': b.trend, 'week': w.trend, 'old': o.trend, 'new': n.trend},
    {'price': 'low', 'before': b.low, 'week': w.low, 'old': o.low, 'new': n.low},
    {'price': 'avg7', 'before': b.avg7, 'week': w.avg7, 'old': o.avg7, 'new': n.avg7},
    {'price': 'avg30', 'before': b.avg30, 'week': w.avg30, 'old': o.avg30, 'new': n.avg30},
    {'price': 'trend_holo', 'before': b.trend_holo, 'week': w.trend_holo, 'old': o.trend_holo, 'new': n.trend_holo},
    {'price': 'low_holo', 'before': b.low_holo, 'week': w.low_holo, 'old': o.low_holo, 'new': n.low_holo},
    {'price': 'avg7_holo', 'before': b.avg7_holo, 'week': w.avg7_holo, 'old': o.avg7_holo, 'new': n.avg7_holo},
    {'price': 'avg30_holo', 'before': b.avg30_holo, 'week': w.avg30_holo, 'old': o.avg30_holo, 'new': n.avg30_holo}
    ], recursive := true)
    from old_games as o join new_prices as n using (id_product) left join week_prices as w using (id_product)
    left join before_prices as b using (id_product)
)
where coalesce(week, before) is not null and new is not null;

-- One row per game of the new build: its index on its newest day, and on its newest day of the live build. Null where the
-- live build does not have the game, or the new one not that day.
create or replace view game_indexes as
with old_newest as (
    select game_folded, max(day) as day, arg_max(priced, day) as priced
    from old_indexes
    group by game_folded
),

new_newest as (
    select game_folded, any_value(game) as game, max(day) as day, arg_max(priced, day) as priced, arg_max("index", day) as "index"
    from new_indexes
    group by game_folded
)

select
    n.game,
    n.day,
    n.priced,
    n."index",
    b.day as day_before,
    o.priced as priced_before,
    b."index" as index_before
from new_newest as n
left join old_newest as o using (game_folded)
left join new_indexes as b on n.game_folded = b.game_folded and o.day = b.day;
