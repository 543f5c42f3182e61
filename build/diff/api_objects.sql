-- One row per object of the API, as `cardpress export` writes them, that was added, removed or changed. Objects that
-- only the shim reads are left out: the rows of the search, and the histories apart from their card details.
create table api_object_changes as
select layer as resource, id, key, change
from object_changes
where
    layer_place(layer) is not null
    and layer not in ('cards', 'status')
    and key not like 'names/%' -- the names of one game
union all
select 'cards', id, concat('cards/', id, '.json'), change
from object_changes
where layer = 'catalogue' and change <> 'changed'
union all
select 'cards', id, concat('cards/', id, '.json'), 'changed'
from touched_details
where id not in (from same_history)
union all
select 'status', null, 'status.json', 'changed' -- it names the build
where getvariable('old_build') <> getvariable('new_build');
