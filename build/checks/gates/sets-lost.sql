-- The number of sets with a name that the new build lacks.
select
    count(*) filter (n.id is null) as value,
    count(*) as sets,
    format('{:,} of {:,} sets are gone, such as {}', value, sets, min(o.name) filter (n.id is null)) as message
from old_sets as o
left join new_sets as n on o.id = n.id
where o.name is not null
having sets > 0;
