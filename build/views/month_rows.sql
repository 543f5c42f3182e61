-- The rows of one month, or of some days of it: one view per array of a history and one row per product and day, with
-- prices as doubles. month_all_prices has the whole price guide, also the columns that no history shows. The files of
-- these days are open as raw tables. The task of a month checks the rules of the price guide on its rows.
-- Sorted and stored by the task of a month; read back by views/history.sql. Bulk files hold the same rows.

create or replace view month_all_prices as
select
    id_product,
    day,
    price_double(low) as low,
    price_double(avg) as avg,
    price_double(trend) as trend,
    price_double(avg1) as avg1,
    price_double(avg7) as avg7,
    price_double(avg30) as avg30,
    price_double(low_holo) as low_holo,
    price_double(avg_holo) as avg_holo,
    price_double(trend_holo) as trend_holo,
    price_double(avg1_holo) as avg1_holo,
    price_double(avg7_holo) as avg7_holo,
    price_double(avg30_holo) as avg30_holo
from raw.price_guide;

create or replace view month_price_guide as
select id_product, day, low, avg, trend, low_holo, avg_holo, trend_holo
from month_all_prices;

create or replace view month_filtered as
select id_product, day, lowest::double as lowest, offers
from filtered_checks;

create or replace view month_listing as
select
    id_product,
    day,
    available,
    from_price::double as from_price,
    available_foil,
    from_price_foil::double as from_price_foil
from listings;
