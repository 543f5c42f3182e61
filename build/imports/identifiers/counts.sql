-- How many rows of a file are new, and how many it lost.
with before_rows as (select id_product, scheme, value from before),

after_rows as (select id_product, scheme, value from "after")

select
    (select count(*) from (from after_rows except all from before_rows)) as new,
    (select count(*) from (from before_rows except all from after_rows)) as removed
