-- One row per product, array of its history and day, over the period that is open. The six columns
-- a to f hold the values of the array: `part` says which (0 price_guide, 1 filtered, 2 listing).
-- Read by the layer cards and by those of closed periods.
create or replace view history as
select id_product, 0 as part, day, low as a, avg as b, trend as c, low_holo as d, avg_holo as e, trend_holo as f
from price_guide
union all
select id_product, 1, day, lowest, offers, null, null, null, null
from filtered_days
union all
select id_product, 2, day, available, from_price, available_foil, from_price_foil, null, null
from listings;

create or replace macro history_json(part, day, a, b, c, d, e, f) as case part
    when 0 then to_json({
        'day': day,
        'low': a::double,
        'avg': b::double,
        'trend': c::double,
        'low_holo': d::double,
        'avg_holo': e::double,
        'trend_holo': f::double
    })
    when 1 then to_json({'day': day, 'lowest': a::double, 'offers': b::bigint})
    else to_json({
        'day': day,
        'available': a::bigint,
        'from_price': b::double,
        'available_foil': c::bigint,
        'from_price_foil': d::double
    })
end::varchar;
