-- The products that have several checks on a day, with these days.
create or replace table repeated_keys as
select day, id_product from check_summaries where id_product is not null group by all having count(*) > 1;
