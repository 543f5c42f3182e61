-- One row per product that was added, removed or changed: the fields by which a reader recognises it, as in the newer
-- build (`old_…`: as in the older one).
set variable shown_fields = '{
    "name": "VARCHAR", "kind": "VARCHAR", "set": {"id": "BIGINT", "name": "VARCHAR"}, "cardmarket_url": "VARCHAR"
}';

create table products as
with parsed as (
    select
        id,
        change as event,
        from_json(old, getvariable('shown_fields')) as before,
        from_json(new, getvariable('shown_fields')) as after
    from items
    where resource = 'products'
)

select
    id,
    event,
    coalesce(after, before).name as name,
    coalesce(after, before).kind as kind,
    coalesce(after, before).set.id as set_id,
    coalesce(after, before).set.name as set_name,
    coalesce(after, before).cardmarket_url as url,
    before.name as old_name,
    before.set.id as old_set_id,
    before.set.name as old_set_name
from parsed;
