-- The number of days by which the as-of day, or the day of the price guide, is earlier than in the live build.
select
    greatest(o.as_of - n.as_of, coalesce(o.guide_day - n.guide_day, 0), 0) as value,
    format('as of {} with the price guide of {}; the live build is as of {} with the price guide of {}',
           n.as_of, n.guide_day, o.as_of, o.guide_day) as message
from old_build as o
cross join new_build as n;
