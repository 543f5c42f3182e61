-- What `cardpress diff --format json` lists, each row with the JSON of one line. Each view is one list, or those of
-- one resource, told apart by `what`; `id` and `key` give the order, and are unique within a list.

create view told_objects as
select id, key, to_json({'resource': resource, 'key': key, 'change': change})::varchar as json, resource as what
from document_changes;

-- products that were added or removed
create view told_products as
select id, what, to_json({
    'id_product': id, 'name': name, 'kind': kind, 'set': {'id': set_id, 'name': set_name}
})::varchar as json
from products
where what <> 'changed';

create view told_renamed as
select id, to_json({'id_product': id, 'old': old_name, 'new': name})::varchar as json
from renamed_products;

create view told_moved as
select id, to_json({
    'id_product': id,
    'name': name,
    'old': {'id': old_set_id, 'name': old_set_name},
    'new': {'id': set_id, 'name': set_name}
})::varchar as json
from moved_products;

-- moves of a price, and prices that appeared or went (`what`)
create view told_prices as
select id, price as key, case when way in ('up', 'down') then 'moves' else way end as what, to_json({
    'price': price,
    'id_product': id,
    'old': old::double,
    'new': new::double,
    'change': change::double,
    'change_pct': change_pct
})::varchar as json
from prices;

-- items that have been added or removed, as the API says them; products are told shorter
create view told_items as
select resource, change as what, id, key, coalesce(new, old) as json
from items
where change <> 'changed' and resource <> 'products';

-- changed items of any resource: the fields that differ, each with both values
create view told_changes as
with told as (
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
left join told using (resource, key)
where change = 'changed';
