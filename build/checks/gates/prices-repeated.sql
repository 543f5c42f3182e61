-- The share of products whose prices are all unchanged although the as-of day is later. This finds yesterday's files
-- under today's name. The price guide alone may repeat itself for a day. Games that have no row on its newest day do not count. No
-- row for fewer than 100 products.
select
    count(*) filter (
        o.trend is not distinct from n.trend
        and o.low is not distinct from n.low
        and o.avg is not distinct from n.avg
        and o.filtered is not distinct from n.filtered
    ) / count(*) as value,
    count(*) as products,
    list_value('price_guide', 'filtered_checks') as tables,
    format('{:.2f} % of {:,} products have the same prices as of {} as they had as of {}',
           100 * value, products, max(new_build.as_of), max(old_build.as_of)) as message
from old_games as o
semi join games_of_the_day using (game_now)
join new_prices as n using (id_product)
join old_build on true
join new_build on new_build.as_of > old_build.as_of
where coalesce(n.trend, n.low, n.avg, n.filtered) is not null
    -- a guide that repeats itself while no check came in is a holiday
    and ((select max(filtered_day) from new_prices) is null or (select max(filtered_day) from new_prices) = new_build.as_of)
having products >= 100;
