-- The share of the live build's products that the new build lacks.
select
    share(count(*) filter (n.id_product is null), count(*)) as value,
    count(*) filter (n.id_product is null) as lost,
    count(*) as products,
    format('{:,} of {:,} products are gone, such as id_product {}', lost, products,
           min(o.id_product) filter (n.id_product is null)) as message
from old_prices as o
left join new_prices as n on o.id_product = n.id_product
having products > 0;
