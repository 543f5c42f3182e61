-- bulk_<table>: one row per known product and day of a span of days, as the bulk files have them. The views
-- rows_<array> hold the rows of the span, also those of unknown products. bulk_ids has the products of all these rows.
-- Read by the layers bulk-<month> and bulk-<day>.
create or replace view bulk_price_guide as
select
    id_product,
    day,
    low::double as low,
    avg::double as avg,
    trend::double as trend,
    avg1::double as avg1,
    avg7::double as avg7,
    avg30::double as avg30,
    low_holo::double as low_holo,
    avg_holo::double as avg_holo,
    trend_holo::double as trend_holo,
    avg1_holo::double as avg1_holo,
    avg7_holo::double as avg7_holo,
    avg30_holo::double as avg30_holo
from rows_price_guide
semi join products using (id_product);

create or replace view bulk_listings as
select
    id_product,
    day,
    available,
    from_price::double as from_price,
    available_foil,
    from_price_foil::double as from_price_foil
from rows_listing
semi join products using (id_product);

create or replace view bulk_filtered as
select id_product, day, lowest::double as lowest, offers
from rows_filtered
semi join products using (id_product);

create or replace view bulk_ids as
select id_product from rows_price_guide
union
select id_product from rows_listing
union
select id_product from rows_filtered;
