-- The share of products whose set changed. Products that had none do not count.
select
    share(count(*) filter (n.id_expansion is distinct from o.id_expansion), count(*)) as value,
    count(*) filter (n.id_expansion is distinct from o.id_expansion) as many,
    count(*) as products,
    format('{:,} of {:,} products have another set, such as id_product {}', many, products,
           min(id_product) filter (n.id_expansion is distinct from o.id_expansion)) as message
from old_prices as o
join new_prices as n using (id_product)
where o.id_expansion is not null
having products > 0;
