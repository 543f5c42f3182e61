-- history_<array>: one row per product and day of one array of a history, the row as JSON. The views sorted_<array>
-- hold the rows of one or more months (views/month_rows.sql).
-- Read in ranges of products by the layers cards and history-<period>.
create view history_price_guide as
select id_product, day, to_json({
    'day': day,
    'low': low,
    'avg': avg,
    'trend': trend,
    'low_holo': low_holo,
    'avg_holo': avg_holo,
    'trend_holo': trend_holo
})::varchar as json
from sorted_price_guide;

create view history_filtered as
select id_product, day, to_json({'day': day, 'lowest': lowest, 'offers': offers})::varchar as json
from sorted_filtered;

create view history_listing as
select id_product, day, to_json({
    'day': day,
    'available': available,
    'from_price': from_price,
    'available_foil': available_foil,
    'from_price_foil': from_price_foil
})::varchar as json
from sorted_listing;

-- One row per product that has any row.
create view history_products as
select id_product from sorted_price_guide
union
select id_product from sorted_filtered
union
select id_product from sorted_listing;
