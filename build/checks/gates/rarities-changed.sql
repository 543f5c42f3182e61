-- The share of products whose rarity changed. Products that had none do not count.
select
    share(count(*) filter (n.rarity is distinct from o.rarity), count(*)) as value,
    count(*) filter (n.rarity is distinct from o.rarity) as many,
    count(*) as products,
    format('{:,} of {:,} products have another rarity, such as id_product {}', many, products,
           min(id_product) filter (n.rarity is distinct from o.rarity)) as message
from old_prices as o
join new_prices as n using (id_product)
where o.rarity is not null
having products > 0;
