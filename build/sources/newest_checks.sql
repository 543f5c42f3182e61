-- The checks of each product's newest day, with their lists of offers, as the lake has them. DuckDB opens the files of these
-- days only. generator/lake/offer_numbers.py takes the same rows from files with just the declared columns.
set variable newest_check_days = (
    select list(distinct day) from (select max(day) as day from check_summaries group by id_product)
);

create or replace table newest_checks as
with newest as (
    select max(day) as day, id_product from check_summaries group by id_product
)

from raw.filtered_checks
semi join newest using (day, id_product)
where list_contains(getvariable('newest_check_days'), day);
