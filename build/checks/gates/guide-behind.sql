-- The number of days between the price guide and the as-of day; 0 unless it is more than in the live build.
select
    case when n.as_of - n.guide_day > o.as_of - o.guide_day then n.as_of - n.guide_day else 0 end as value,
    n.as_of - n.guide_day as days,
    format('the newest price guide is of {}, {} days before the as-of day {}', n.guide_day, days, n.as_of) as message
from old_build as o
cross join new_build as n
where o.guide_day is not null and n.guide_day is not null;
