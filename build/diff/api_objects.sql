-- One row per object of the API, as `cardpress export` writes them, that was added, removed or changed: card details by
-- their parts, and all others as `document_changes` has them.
create table api_object_changes as
select 'cards' as resource, id, concat('cards/', id, '.json') as key, change
from object_changes
where layer = 'catalogue' and change <> 'changed'
union all
select 'cards', id, concat('cards/', id, '.json'), 'changed'
from touched_details
where id not in (from same_history)
union all
select resource, null, key, change
from document_changes;
