-- history_<array>: one row per product and day of one array of a history, the row as JSON with a comma and a line break
-- behind it. The views sorted_<array> hold the rows of one or more months (views/month_rows.sql).
-- Read in ranges of products by the layers cards and history-<period>.

-- A number as JSON. The Parquet files hold equal numbers of a column once, so DuckDB makes the text of each number once. It
-- would make a whole object with to_json row by row, in twice the time.
create macro json_number(x) as coalesce(to_json(x)::varchar, 'null');

create view history_price_guide as
select id_product, day, concat(
    '{"day":"', day,
    '","low":', json_number(low),
    ',"avg":', json_number(avg),
    ',"trend":', json_number(trend),
    ',"low_holo":', json_number(low_holo),
    ',"avg_holo":', json_number(avg_holo),
    ',"trend_holo":', json_number(trend_holo),
    e'},\n'
) as line
from sorted_price_guide;

create view history_filtered as
select id_product, day, concat(
    '{"day":"', day,
    '","lowest":', json_number(lowest),
    ',"offers":', json_number(offers),
    e'},\n'
) as line
from sorted_filtered;

create view history_listing as
select id_product, day, concat(
    '{"day":"', day,
    '","available":', json_number(available),
    ',"from_price":', json_number(from_price),
    ',"available_foil":', json_number(available_foil),
    ',"from_price_foil":', json_number(from_price_foil),
    e'},\n'
) as line
from sorted_listing;

-- One row per product that has any row.
create view history_products as
select id_product from sorted_price_guide
union
select id_product from sorted_filtered
union
select id_product from sorted_listing;
