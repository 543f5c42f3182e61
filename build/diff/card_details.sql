-- One row per card detail that is in both builds and has a stored object that differs. A detail joins the object of the
-- layer cards with those of the closed periods. If one of them differs, the detail differs. If several differ, rows may
-- only have moved from the open month to a closed period: then `doubtful` is true, unless the Card itself differs.
create table touched_details as
with stored as (
    select id, count(*) as n_objects, bool_or(layer = 'cards' and change <> 'changed') as came_or_went
    from object_changes
    where layer = 'cards' or layer like 'history-%'
    group by id
)

select id, n_objects > 1 and r.id is null as doubtful
from stored
semi join new_cards using (id)
left join (select id from object_changes where layer = 'catalogue') as r using (id)
where not came_or_went;
