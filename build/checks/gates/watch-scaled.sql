-- How far the middle ratio of the watchlist's lowest prices lies from 1, between the newest day and the day before of each tracked
-- product. Only a list of at least 10 is judged; up to 29, if the prices doubled or halved.
with days as (
    select slug, day, a as price, lag(a) over (partition by slug order by day) as before
    from source_rows
    where "table" = 'watch_checks' and a > 0
),

ratios as (
    select median(price / before) as middle, count(*) as checks, greatest(middle, 1 / middle) - 1 as distance
    from days
    where before > 0 and day = (select max(day) from source_rows where "table" = 'watch_checks')
    having count(*) >= 10
)

select
    case when checks >= 30 or distance > 1 then distance else 0 end as value,
    middle as ratio,
    checks as prices,
    list_value('watch_checks') as tables,
    format('half of the {:,} lowest prices of the watchlist are at least {:.3g} times those of the day before', checks, middle)
        as message
from ratios
where (select count(*) from old_prices) > 0;
