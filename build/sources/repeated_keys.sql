-- The products that have several checks on a day, with these days. generator/lake/filtered_checks.py finds the same ones in
-- files with just the declared columns.
create or replace table repeated_keys as
select day, id_product from check_summaries where id_product is not null group by all having count(*) > 1;
