-- One row per band of days: by table of the lake, the number of products whose newest row is that many days older than the
-- as-of day (variable as_of). `at_least` -1: the products have no row. `below` null: no upper bound.
create view ages as
with bands as (
    from (values (0, 1), (1, 2), (2, 3), (3, 8), (8, 31), (31, 366), (366, null), (-1, 0)) as bands(at_least, below)
),

ages_in_days as (
    select
        coalesce(getvariable('as_of')::date - guide_day, -1) as price_guide,
        coalesce(getvariable('as_of')::date - listing_day, -1) as listings,
        coalesce(getvariable('as_of')::date - filtered_day, -1) as filtered_checks
    from prices
)

select
    bands.at_least,
    bands.below,
    count(*) filter (price_guide >= at_least and (below is null or price_guide < below)) as price_guide,
    count(*) filter (listings >= at_least and (below is null or listings < below)) as listings,
    count(*) filter (filtered_checks >= at_least and (below is null or filtered_checks < below)) as filtered_checks
from bands
left join ages_in_days on true
group by bands.at_least, bands.below
order by bands.at_least < 0, bands.at_least;
