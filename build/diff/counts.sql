-- One row per resource and field that differs somewhere: on how many items of both builds its value changed, appeared
-- (was null) or went (is null).
create view field_counts as
select
    resource,
    field,
    count(*) filter (old is not null and new is not null) as changed,
    count(*) filter (old is null) as appeared,
    count(*) filter (new is null) as went
from field_changes
group by resource, place, field
order by item_place(resource), place;

-- One row per resource that has fields: how many items of it were added, removed or changed.
create view item_counts as
select
    resource,
    count(*) filter (change = 'added') as added,
    count(*) filter (change = 'removed') as removed,
    count(*) filter (change = 'changed') as changed
from unnest(item_resources()) as resources(resource)
left join items using (resource)
group by resource
order by item_place(resource);

-- One row per product of both builds whose name changed, and per product whose expansion changed. A renamed expansion
-- does not move its products.
create view renamed_products as
select id, old_name, name, kind, set_id, set_name, url
from products
where event = 'changed' and old_name is distinct from name
order by id;

create view moved_products as
select id, name, kind, old_set_id, old_set_name, set_id, set_name, url
from products
where event = 'changed' and old_set_id is distinct from set_id
order by id;

-- One row per tracked product that was added, removed or changed, the largest move of its lowest price first.
create view watchlist_changes as
with parsed as (
    select
        key as slug,
        change as event,
        coalesce(new, old) ->> '$.name' as name,
        (old ->> '$.lowest_price')::decimal(18, 2) as old,
        (new ->> '$.lowest_price')::decimal(18, 2) as new
    from items
    where resource = 'watchlist'
)

select slug, name, event, old, new, (new - old)::decimal(18, 2) as change, change_pct(new, old) as change_pct
from parsed
order by abs(change_pct(new, old)) desc nulls last, slug;

-- One row per set that was added, removed or changed.
create view set_changes as
select
    id,
    change as event,
    old ->> '$.name' as old_name,
    coalesce(new, old) ->> '$.name' as name,
    (old ->> '$.products')::bigint as old_products,
    (new ->> '$.products')::bigint as products
from items
where resource = 'sets'
order by id;
