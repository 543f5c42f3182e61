-- How far the index of a game has moved since the newest day of the live build, for the game that moved the most: 0.2 means
-- that it rose or fell by a fifth. Only games with many prices in both builds count (variable enough_priced).
with pairs as (
    select o.game, coalesce(nullif(o.trend, 0), o.trend_holo)::double as old, coalesce(nullif(n.trend, 0), n.trend_holo)::double as new
    from old_prices as o join new_prices as n using (id_product)
    where o.kind = 'single'
),

-- Without a few products (at most 1 in 200, and 20) that rose or fell by a factor of 3 to 10: twelve dear cards are a sixth of an
-- index. Prices that moved further are parked or wrong.
without_few as (
    select game, sum(new) filter (not apart) / sum(old) filter (not apart) - 1 as moved
    from (select *, greatest(new / old, old / new) between 3 and 10 as apart from pairs where old > 0 and new > 0)
    group by game
    having count(*) filter (apart) <= least(20, 0.005 * count(*))
),

moved as (
    select g.*, least(abs("index" - index_before) / index_before, coalesce(abs(w.moved), 1e9)) as distance
    from game_indexes as g left join without_few as w using (game)
    where index_before > 0 and least(priced, priced_before) >= getvariable('enough_priced')::bigint
)

select
    coalesce(max(distance), 0) as value,
    arg_max(
        {'game': game, 'day': day, 'index': "index", 'day_before': day_before, 'index_before': index_before}, distance
    ) as worst,
    list_value('price_guide') as tables,
    format('the index of {} was {:.2f} on {} and is {:.2f} on {}', game_in_words(worst['game']),
           worst['index_before'], worst['day_before'], worst['index'], worst['day']) as message
from moved
having (select count(*) from old_indexes) > 0;
