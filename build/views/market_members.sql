-- One row per single of an expansion of the lake: the set and the game that it counts for in the market.
-- Read by the layers market.
select id_product, id_expansion, game_folded
from products
join expansions on products.id_expansion = expansions.id
where kind = 'single'
order by id_product;
