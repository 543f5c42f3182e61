-- The share of products whose name changed. Products that had none do not count.
select
    share(count(*) filter (n.name is distinct from o.name), count(*)) as value,
    count(*) filter (n.name is distinct from o.name) as many,
    count(*) as products,
    format('{:,} of {:,} products have another name, such as id_product {}', many, products,
           min(id_product) filter (n.name is distinct from o.name)) as message
from old_prices as o
join new_prices as n using (id_product)
where o.name is not null
having products > 0;
