-- The rows of one month that histories show, one view per array of a history and one row per product and day. The
-- month's files are open as raw tables.
-- Sorted and stored by the task of a month; read back by views/history.sql.

create or replace view month_price_guide as
select id_product, day, low, avg, trend, low_holo, avg_holo, trend_holo
from price_guide;

create or replace view month_filtered as
select id_product, day, lowest, offers
from filtered_checks;

create or replace view month_listing as
select id_product, day, available, from_price, available_foil, from_price_foil
from listings;
