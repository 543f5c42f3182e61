-- The share of products whose number changed. Products that had none do not count.
select
    share(count(*) filter (n.number is distinct from o.number), count(*)) as value,
    count(*) filter (n.number is distinct from o.number) as many,
    count(*) as products,
    format('{:,} of {:,} products have another number, such as id_product {}', many, products,
           min(id_product) filter (n.number is distinct from o.number)) as message
from old_prices as o
join new_prices as n using (id_product)
where o.number is not null
having products > 0;
