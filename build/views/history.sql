-- One row per product, array of its history and day, over the month that is open: `part` says which array
-- (0 price_guide, 1 filtered, 2 listing). Prices are in a to f, counts in n and m.
-- Written month by month, sorted, and read back in ranges of products by the layer cards and those of closed periods.
create or replace view history as
select
    id_product, 0 as part, day,
    low as a, avg as b, trend as c, low_holo as d, avg_holo as e, trend_holo as f,
    null::bigint as n, null::bigint as m
from price_guide
union all
select id_product, 1, day, lowest, null, null, null, null, null, offers, null
from filtered_days
union all
select id_product, 2, day, from_price, from_price_foil, null, null, null, null, available, available_foil
from listings;

create or replace macro history_json(part, day, a, b, c, d, e, f, n, m) as case part
    when 0 then to_json({
        'day': day,
        'low': a::double,
        'avg': b::double,
        'trend': c::double,
        'low_holo': d::double,
        'avg_holo': e::double,
        'trend_holo': f::double
    })
    when 1 then to_json({'day': day, 'lowest': a::double, 'offers': n})
    else to_json({
        'day': day,
        'available': n,
        'from_price': a::double,
        'available_foil': m,
        'from_price_foil': b::double
    })
end::varchar;
