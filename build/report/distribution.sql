-- One row per price (trend, low, filtered), kind (and `all`) and band of euros: how many products have a price in the
-- band. `low` belongs to the band, `high` to the next one; null means no bound.
create view distribution as
with bands as (
    from (values
        (0, 0.1), (0.1, 0.25), (0.25, 0.5), (0.5, 1), (1, 2), (2, 5), (5, 10), (10, 25), (25, 50), (50, 100), (100, 500),
        (500, null)
    ) as bands(low, high)
),

names as (
    select unnest(['trend', 'low', 'filtered']) as price, unnest([1, 2, 3]) as place
),

kinds as (
    select unnest(['all', 'single', 'sealed']) as kind, unnest([1, 2, 3]) as place
),

priced as (
    select kind, 'trend' as price, trend as euros from prices
    union all
    select kind, 'low', low from prices
    union all
    select kind, 'filtered', filtered from prices
),

counted as (
    select price, coalesce(kind, 'all') as kind, bands.low, count(*) as n_products
    from priced
    join bands on euros >= bands.low and (high is null or euros < high)
    group by grouping sets ((price, bands.low), (price, kind, bands.low))
)

select price, kind, bands.low::double as low, high::double as high, coalesce(n_products, 0) as products
from names
cross join kinds
cross join bands
left join counted using (price, kind, low)
order by names.place, kinds.place, bands.low;
