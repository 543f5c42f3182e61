-- The marketplace's daily price guide: one row per product and day. The macro rounds the prices of any table of such
-- rows, so that a view that needs few rows rounds only those.
create or replace macro guide_prices(guide_rows) as table
select
    day,
    id_product,
    price(low) as low,
    price(avg) as avg,
    price(trend) as trend,
    price(avg1) as avg1,
    price(avg7) as avg7,
    price(avg30) as avg30,
    price(low_holo) as low_holo,
    price(avg_holo) as avg_holo,
    price(trend_holo) as trend_holo,
    price(avg1_holo) as avg1_holo,
    price(avg7_holo) as avg7_holo,
    price(avg30_holo) as avg30_holo
from query_table(guide_rows);
