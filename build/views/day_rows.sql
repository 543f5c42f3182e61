-- The rows of some days of the open month, also those of unknown products, one per product and day. The files of these
-- days are open as raw tables. They are tables because the layers bulk-<day> read one day after the other.
create or replace table day_rows_price_guide as from month_all_prices;

create or replace table day_rows_listing as from month_listing;

create or replace table day_rows_filtered as from month_filtered;
