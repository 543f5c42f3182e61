-- The share of the live build's products with an id of another catalogue that have none of it any more, for the catalogue
-- (scheme) that lost the most.
with lost as (
    select scheme, count(*) as products, count(*) filter (n.id_product is null) as lost, min(o.id_product)
        filter (n.id_product is null) as example
    from (select distinct scheme, id_product from old_identifiers) as o
    left join (select distinct scheme, id_product from new_identifiers) as n using (scheme, id_product)
    group by scheme
)

select
    share(lost, products) as value,
    scheme,
    lost,
    products,
    format('{:,} of {:,} products have no id of {} any more, such as id_product {}', lost, products, scheme, example)
        as message
from lost
order by value desc, scheme
limit 1;
