-- One row per card detail that both builds have and of which a stored object differs. A detail joins the objects of
-- the layer cards and of the closed periods. If one of them differs, so does the detail. If several do, the same rows
-- may have moved from the open month to a closed period: `doubtful`, unless the Card itself differs anyway.
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
