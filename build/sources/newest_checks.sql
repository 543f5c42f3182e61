-- The checks of each product's newest day, with the columns of check_summaries and their lists of offers. DuckDB opens the
-- files of these days only.
set variable newest_check_days = (
    select list(distinct day) from (select max(day) as day from check_summaries group by id_product)
);

create or replace table newest_checks as
with newest_days as (
    select max(day) as day, id_product from check_summaries group by id_product
),

of_newest_days as (
    from raw.filtered_checks
    semi join newest_days using (day, id_product)
    where list_contains(getvariable('newest_check_days'), day)
)

from summarised('of_newest_days');
