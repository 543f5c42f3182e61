-- One row per day (UTC) and key, null for requests without a valid key: requests, those that were refused (a status of
-- 400 to 499), and bytes of bodies. From the day in the variable first_day, if there is one.
select
    day::varchar as day,
    key,
    count(*) as requests,
    count(*) filter (answer_status between 400 and 499) as refused,
    sum(body_bytes)::bigint as bytes
from log_lines
where kind = 'request' and day >= coalesce(getvariable('first_day')::date, day)
group by all
order by day, key nulls first;
