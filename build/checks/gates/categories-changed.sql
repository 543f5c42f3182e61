-- The share of products whose category changed. Products that had none do not count.
select
    share(count(*) filter (n.category is distinct from o.category), count(*)) as value,
    count(*) filter (n.category is distinct from o.category) as many,
    count(*) as products,
    format('{:,} of {:,} products have another category, such as id_product {}', many, products,
           min(id_product) filter (n.category is distinct from o.category)) as message
from old_prices as o
join new_prices as n using (id_product)
where o.category is not null
having products > 0;
