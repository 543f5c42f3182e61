-- The share of prices that became null, for the one of trend, low, avg and filtered that lost the most.
select
    share(count(*) filter (new is null), count(*)) as value,
    price,
    count(*) filter (new is null) as lost,
    count(*) as prices,
    list_value(case when price = 'filtered' then 'filtered_checks' else 'price_guide' end) as tables,
    format('{:,} of {:,} prices in {} became null, such as that of id_product {}', lost, prices, price,
           min(id_product) filter (new is null)) as message
from price_pairs
where old is not null
group by price
order by value desc, price
limit 1;
