-- One row per scheme whose rows differ: how many ids of products were added and lost.
create view identifiers as
with changes as (
    select scheme, 'added' as change from (from new_identifiers except from old_identifiers)
    union all
    select scheme, 'lost' from (from old_identifiers except from new_identifiers)
)

select scheme, count(*) filter (change = 'added') as added, count(*) filter (change = 'lost') as lost
from changes
group by scheme
order by scheme;
