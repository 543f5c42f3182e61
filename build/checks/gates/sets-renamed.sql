-- The share of sets whose name changed. A set that had no name was called by its id, and its first name is no change.
select
    share(count(*) filter (n.name is distinct from o.name), count(*)) as value,
    count(*) filter (n.name is distinct from o.name) as many,
    count(*) as sets,
    format('{:,} of {:,} sets have another name, such as {}', many, sets,
           min(o.name) filter (n.name is distinct from o.name)) as message
from old_sets as o
join new_sets as n using (id)
where o.name is not null and o.name <> 'Expansion ' || o.id
having sets > 0;
