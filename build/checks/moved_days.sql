-- How the rows of each day of a table moved, by game ('' for products without one; null for all): the middle one of the ratios of a
-- product's value to that of its row before, and of how many products. Reads source_rows; `listings` has its price in b.
with valued as (
    select
        "table",
        id,
        day,
        case when "table" = 'listings' then b else a end as value,
        lag(value) over (partition by "table", id order by day) as before
    from source_rows
    where id is not null
)

select
    "table",
    day::varchar as day,
    game,
    median(value / before) as ratio,
    count(*) as products
from (select v.*, coalesce(p.game, '') as game from valued as v join new_prices as p on v.id = p.id_product)
where value > 0 and before > 0
group by grouping sets (("table", day), ("table", day, game))
order by all;
