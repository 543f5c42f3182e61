-- The lists of `cardpress diff --format json`, one row per line of the document: the line's JSON, the columns that
-- select a list (`list`, `resource`), and `id` and `key`, which give the order and are unique within a list.

-- objects of the API that were added, removed or changed
create view json_objects as
select resource, id, key, to_json({'resource': resource, 'key': key, 'change': change})::varchar as json
from api_object_changes;

-- products that were added or removed
create view json_products as
select id, event as list, to_json({
    'id_product': id, 'name': name, 'kind': kind, 'set': {'id': set_id, 'name': set_name}
})::varchar as json
from products
where event <> 'changed';

create view json_renamed_products as
select id, to_json({'id_product': id, 'old': old_name, 'new': name})::varchar as json
from renamed_products;

create view json_moved_products as
select id, to_json({
    'id_product': id,
    'name': name,
    'old': {'id': old_set_id, 'name': old_set_name},
    'new': {'id': set_id, 'name': set_name}
})::varchar as json
from moved_products;

-- prices that moved, appeared or went
create view json_prices as
select id, price as key, case when way in ('up', 'down') then 'moves' else way end as list, to_json({
    'price': price,
    'id_product': id,
    'old': old::double,
    'new': new::double,
    'change': change::double,
    'change_pct': change_pct
})::varchar as json
from prices;

-- sets, tracked products and fingerprints that were added or removed, as the API returns them
create view json_items as
select resource, change as list, id, key, coalesce(new, old) as json
from items
where change <> 'changed' and resource <> 'products';

-- changed items of all resources: the fields that differ, each with both values
create view json_changes as
with changes as (
    select
        resource,
        key,
        string_agg(concat(to_json(field), ':[', coalesce(old, 'null'), ',', coalesce(new, 'null'), ']'), ',' order by place)
            as fields
    from field_changes
    group by resource, key
)

select resource, id, key, concat('{', case resource
    when 'products' then concat('"id_product":', key, ',')
    when 'sets' then concat('"id":', key, ',')
    when 'watchlist' then concat('"slug":', to_json(key), ',')
    when 'fingerprints' then concat('"key":', to_json(key), ',')
end, '"fields":{', fields, '}}') as json
from items
left join changes using (resource, key)
where change = 'changed';
