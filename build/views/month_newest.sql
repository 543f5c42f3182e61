-- newest_in_month_<table>: one row per product that the table names in a month, its newest row. With it, over all rows
-- of the product in the month: how many there are (`n_rows`), how many have a time outside their day (`n_outside`),
-- and how many offers were left out (`n_dropped`). generator/making/shared_tasks.py makes those of the price guide.
-- Stored by the task of a month; read back by views/period.sql.j2 and views/newest.sql.j2, so that a night reads the
-- files of the open month only. Most products have their newest row on one of the last days: DuckDB opens the files of
-- these days only.
create or replace table newest_listing_days as
select id_product, max(day) as day, count(*) as n_rows, count(*) filter (scraped_at::date <> day) as n_outside
from raw.listings
group by id_product;

set variable newest_listing_days = (select list(distinct day) from newest_listing_days);

create or replace table newest_in_month_listings as
select listings.*, n_rows, n_outside, 0::bigint as n_dropped
from listings
join newest_listing_days using (id_product, day)
where list_contains(getvariable('newest_listing_days'), day);

create or replace table newest_in_month_filtered_checks as
with counted as (
    select id_product, max(day) as day, count(*) as n_rows, count(*) filter (checked_at::date <> day) as n_outside
    from check_summaries
    group by id_product
),

left_out as (
    select id_product, sum(dropped)::bigint as n_dropped from filtered_checks group by id_product
),

single_checks as (
    from newest_checks anti join repeated_keys using (day, id_product)
),

with_lists as (
    from checks_of('single_checks')
    union all by name
    from checks_with_lists
)

select with_lists.* exclude (dropped), n_rows, n_outside, n_dropped
from with_lists
join counted using (id_product, day)
join left_out using (id_product);
