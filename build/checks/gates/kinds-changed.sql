-- The share of products whose kind changed. Products that had none do not count.
select
    share(count(*) filter (n.kind is distinct from o.kind), count(*)) as value,
    count(*) filter (n.kind is distinct from o.kind) as many,
    count(*) as products,
    format('{:,} of {:,} products have another kind, such as id_product {}', many, products,
           min(id_product) filter (n.kind is distinct from o.kind)) as message
from old_prices as o
join new_prices as n using (id_product)
where o.kind is not null
having products > 0;
