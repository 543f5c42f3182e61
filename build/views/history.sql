-- history_<array>: one row per product and day of one array of a history, the row as JSON. The views sorted_<array>
-- hold the rows of one or more months (views/month_rows.sql).
-- Read in ranges of products by the layers cards and history-<period>.
create view history_price_guide as
select id_product, day, to_json({
    'day': day,
    'low': low::double,
    'avg': avg::double,
    'trend': trend::double,
    'low_holo': low_holo::double,
    'avg_holo': avg_holo::double,
    'trend_holo': trend_holo::double
})::varchar as json
from sorted_price_guide;

create view history_filtered as
select id_product, day, to_json({'day': day, 'lowest': lowest::double, 'offers': offers})::varchar as json
from sorted_filtered;

create view history_listing as
select id_product, day, to_json({
    'day': day,
    'available': available,
    'from_price': from_price::double,
    'available_foil': available_foil,
    'from_price_foil': from_price_foil::double
})::varchar as json
from sorted_listing;

-- One row per product that has any row.
create view history_products as
select id_product from sorted_price_guide
union
select id_product from sorted_filtered
union
select id_product from sorted_listing;
