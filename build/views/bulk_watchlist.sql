-- One row per tracked product and day with a check: the average of the lowest price, and the number of checks.
-- Read by the layer bulk-watchlist.
create or replace view bulk_watchlist as
select
    slug,
    day,
    average(total, priced)::double as lowest_price,
    checks
from watch_days;
