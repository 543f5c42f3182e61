-- One row per expansion: the Set as JSON. Read by the layer sets.
create view sets as
with counted as (
    select id_expansion as id, count(*) as products, count(*) filter (kind = 'single') as singles
    from products
    group by all
)

select id, set_name_folded, to_json({
    'id': id,
    'name': name,
    'products': coalesce(products, 0),
    'singles': coalesce(singles, 0),
    'cardmarket_url': cardmarket_url
})::varchar as json
from expansions
left join counted using (id)
order by set_name_folded, id;
