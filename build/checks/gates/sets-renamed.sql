-- The share of sets whose name changed.
select
    share(count(*) filter (n.name is distinct from o.name), count(*)) as value,
    count(*) filter (n.name is distinct from o.name) as many,
    count(*) as sets,
    format('{:,} of {:,} sets have another name, such as {}', many, sets,
           min(o.name) filter (n.name is distinct from o.name)) as message
from old_sets as o
join new_sets as n using (id)
where o.name is not null
having sets > 0;
