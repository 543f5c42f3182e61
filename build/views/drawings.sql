-- The pictures that the build draws: one row for each `image` that names a drawing.
-- Products of one picture have the same texts; the one with the least id stands for all of them.
create or replace view drawings as
select
    image,
    arg_min(products.name, id_product) as name,
    arg_min(coalesce(expansions.name, ''), id_product) as "set",
    arg_min(coalesce(rarity, ''), id_product) as rarity,
    arg_min(coalesce(game, ''), id_product) as game,
    arg_min(kind = 'sealed', id_product) as sealed
from products
left join expansions on products.id_expansion = expansions.id
where regexp_full_match(image, '/explore/drawn/[0-9a-f]{16}\.svg')
group by image;
