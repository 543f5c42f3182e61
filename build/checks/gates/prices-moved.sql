-- The share of prices that rose or fell by more than a factor (variable price_factor), for the one of trend, low, avg
-- and filtered in which the most prices did.
with pairs as (
    select price, id_product, greatest(new / old, old / new) > getvariable('price_factor')::double as moved
    from price_pairs
    where old > 0 and new > 0
)

select
    share(count(*) filter (moved), count(*)) as value,
    price,
    count(*) filter (moved) as many,
    count(*) as prices,
    list_value(case when price = 'filtered' then 'filtered_checks' else 'price_guide' end) as tables,
    format('{:,} of {:,} prices in {} moved by more than a factor of {:g}, such as that of id_product {}',
           many, prices, price, getvariable('price_factor')::double, min(id_product) filter (moved)) as message
from pairs
group by price
order by value desc, price
limit 1;
