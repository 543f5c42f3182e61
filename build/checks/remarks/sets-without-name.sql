-- New sets that no import has named: they are called by their ids.
select
    count(*) as value,
    format('{:,} new set{} no name yet, such as {}: `cardpress ingest expansions --template` prints the table to fill',
           value, case when value = 1 then ' has' else 's have' end, min(n.name)) as message
from new_sets as n
anti join old_sets as o using (id)
join old_build on true
where n.name = 'Expansion ' || n.id
having count(*) > 0;
