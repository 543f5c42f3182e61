-- The share of products whose date of addition changed. Products that had none do not count.
select
    share(count(*) filter (n.date_added is distinct from o.date_added), count(*)) as value,
    count(*) filter (n.date_added is distinct from o.date_added) as many,
    count(*) as products,
    format('{:,} of {:,} products have another date of addition, such as id_product {}', many, products,
           min(id_product) filter (n.date_added is distinct from o.date_added)) as message
from old_prices as o
join new_prices as n using (id_product)
where o.date_added is not null
having products > 0;
