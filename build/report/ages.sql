-- One row per source and band of days: the number of products whose newest row is that many days older than the as-of
-- day (variable as_of). `low` null: the products have no row. `high` null: no upper bound.
create view ages as
with bands as (
    from (values (0, 1), (1, 2), (2, 3), (3, 8), (8, 31), (31, 366), (366, null), (null, null)) as bands(low, high)
),

sources as (
    select unnest(['price_guide', 'listings', 'filtered_checks']) as source, unnest([1, 2, 3]) as place
),

ages_in_days as (
    select 'price_guide' as source, getvariable('as_of')::date - guide_day as days from prices
    union all
    select 'listings', getvariable('as_of')::date - listing_day from prices
    union all
    select 'filtered_checks', getvariable('as_of')::date - filtered_day from prices
),

counted as (
    select source, bands.low, count(*) as n_products
    from ages_in_days
    join bands on days >= bands.low and (high is null or days < high) or (days is null and bands.low is null)
    group by source, bands.low
)

select sources.source, bands.low, bands.high, coalesce(n_products, 0) as products
from sources
cross join bands
left join counted on counted.source = sources.source and counted.low is not distinct from bands.low
order by sources.place, bands.low nulls last;
