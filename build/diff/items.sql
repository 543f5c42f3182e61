-- One row per product, set, tracked product or fingerprint that was added, removed or changed: its JSON in both builds.
-- `id` is a number or null, `key` is a text; each is unique within its `resource`.
create macro item_key(resource, json) as case resource
    when 'products' then json ->> '$.id_product'
    when 'sets' then json ->> '$.id'
    when 'watchlist' then json ->> '$.slug'
    when 'fingerprints' then json ->> '$.key'
    else ''
end;

create table items as
with old as (
    select resource, item_key(resource, json) as key, json from old_texts
),

new as (
    select resource, item_key(resource, json) as key, json from new_texts
)

select
    resource,
    case when resource in ('products', 'sets') then key::bigint end as id,
    key,
    case when old.json is null then 'added' when new.json is null then 'removed' else 'changed' end as change,
    old.json as old,
    new.json as new
from old
full join new using (resource, key)
where old.json is distinct from new.json;
