-- bulk_ids: the products of all rows of a span of days, also those that the catalogue does not know. The views bulk_<table>
-- hold the rows of known products, as the bulk files have them; the views unknown_<table> hold the others of the month.
-- Read by the layers bulk-<month> and bulk-<day>.
create or replace view bulk_ids as
with unknown as (
    select id_product, day from unknown_price_guide
    union all
    select id_product, day from unknown_listings
    union all
    select id_product, day from unknown_filtered
)

select id_product from bulk_price_guide
union
select id_product from bulk_listings
union
select id_product from bulk_filtered
union
select id_product from unknown where day between getvariable('first_day')::date and getvariable('last_day')::date;
