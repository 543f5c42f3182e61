-- bulk_<table>: one row per known product and day of a span of days, as the bulk files have them. The views
-- rows_<array> hold the rows of the span, also those of unknown products. bulk_ids has the products of all these rows.
-- Read by the layers bulk-<month> and bulk-<day>.
create or replace view bulk_price_guide as
from rows_price_guide semi join products using (id_product);

create or replace view bulk_listings as
from rows_listing semi join products using (id_product);

create or replace view bulk_filtered as
from rows_filtered semi join products using (id_product);

create or replace view bulk_ids as
select id_product from rows_price_guide
union
select id_product from rows_listing
union
select id_product from rows_filtered;
