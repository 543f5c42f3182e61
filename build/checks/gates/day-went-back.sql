-- The number of days by which the as-of day, or the day of the price guide, is earlier than in the live build; not counted if the
-- live build's day is in quarantine (variable withdrawn).
select
    greatest(
        case when o.as_of::varchar in (select unnest(getvariable('withdrawn')::varchar[])) then 0 else o.as_of - n.as_of end,
        case when o.guide_day::varchar in (select unnest(getvariable('withdrawn')::varchar[])) then 0
            else coalesce(o.guide_day - n.guide_day, 0) end,
        0
    ) as value,
    format('as of {} with the price guide of {}; the live build is as of {} with the price guide of {}',
           n.as_of, n.guide_day, o.as_of, o.guide_day) as message
from old_build as o
cross join new_build as n;
