-- One row per tracked product and day with a check: the average of the lowest price, and the number of checks.
-- Read by the layer bulk-watchlist.
create or replace view bulk_watchlist as
select
    slug,
    day,
    average(sum(lowest_price), count(lowest_price))::double as lowest_price,
    count(*) as checks
from watch_checks
group by slug, day;
