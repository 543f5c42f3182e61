-- moves: one row per product and window with a price now and then, and the Mover as JSON (`line`). `band` is the largest
-- floor that the price then reaches. mover_lists: one row per list of Movers and place in it, 500 places at most.
-- It reads raw.price_guide, which holds the days that any window can need. Read by the layer movers.

-- The trends of known products, with the newest day of the guide of each product's game. Products without a game go by
-- the newest day of the guide of any product.
create or replace table trends as
with known as (
    select id_product, kind, game_folded
    from products
    left join expansions on products.id_expansion = expansions.id
),

guide as (
    select id_product, day, trend, kind, game_folded
    from raw.price_guide
    join known using (id_product)
),

game_days as (
    select game_folded, max(day) as day_now
    from guide
    group by game_folded
),

newest as (
    select max(day) as day_now from guide
)

select
    id_product,
    kind,
    game_folded,
    day,
    price(trend) as trend,
    case when game_folded is null then newest.day_now else game_days.day_now end as day_now
from guide
left join game_days using (game_folded)
cross join newest
where trend is not null;

create or replace table moves as
with windows as (
    select unnest(['1d', '7d', '30d']) as "window", unnest([1, 7, 30]) as days
),

now as (
    select id_product, kind, game_folded, day_now, trend as now
    from trends
    where day = day_now and day_now >= getvariable('as_of')::date - 3
),

before as (
    select "window", id_product, max(day) as day_then, max_by(trend, day) as "then"
    from trends
    cross join windows
    where day between day_now - days - 3 and day_now - days
    group by "window", id_product
),

changed as (
    select
        *,
        now - "then" as change,
        change_pct(now, "then") as change_pct,
        case when now > "then" then 'up' else 'down' end as direction
    from now
    join before using (id_product)
    where "then" > 0 and now <> "then"
)

select
    "window",
    id_product,
    direction,
    kind,
    game_folded,
    day_then,
    "then",
    day_now,
    now,
    change,
    change_pct,
    case
        when "then" >= 100 then 100
        when "then" >= 20 then 20
        when "then" >= 5 then 5
        when "then" >= 1 then 1
        else 0
    end as band
from changed;

-- The lists overlap: a product is in those of its kind and of all kinds, of its game and of all games, and of all floors
-- up to its band. So the largest moves of the parts that do not overlap are found first, and only these are put into
-- lists.
create or replace table candidates as
with measured as (
    select *, unnest(['percent', 'euros']) as "by", unnest([abs(change_pct), abs(change)::double]) as size
    from moves
)

select *
from measured
qualify row_number() over (
    partition by "window", "by", direction, kind, game_folded, band
    order by size desc, id_product
) <= 500;

create or replace table mover_lists as
with listed as (
    select
        concat_ws('/', "window", "by", direction, list_kind, list_floor, list_game) as key,
        "window",
        id_product,
        size
    from candidates
    cross join (select unnest([0, 1, 5, 20, 100]) as list_floor)
    cross join (select unnest(['all', 'single', 'sealed']) as list_kind)
    cross join (select unnest([true, false]) as of_game)
    cross join lateral (select case when of_game then game_folded end as list_game)
    where list_floor <= band and list_kind in ('all', kind) and not (of_game and game_folded is null)
)

select key, "window", id_product, row_number() over (partition by key order by size desc, id_product) as place
from listed
qualify place <= 500;

-- One row per line that a list shows, in the order of window and product.
create or replace table mover_lines as
select
    row_number() over (order by "window", id_product) - 1 as line_number,
    "window",
    id_product,
    to_json({
        'id_product': id_product,
        'name': products.name,
        'kind': products.kind,
        'set': {'id': products.id_expansion, 'name': expansions.name},
        'day_then': day_then,
        'then': "then"::double,
        'day_now': day_now,
        'now': now::double,
        'change': change::double,
        'change_pct': change_pct
    })::varchar as line
from moves
semi join mover_lists using ("window", id_product)
join products using (id_product)
left join expansions on products.id_expansion = expansions.id;
