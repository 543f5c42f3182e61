-- bulk_products, bulk_sets: one row per product and per expansion of the lake, as the bulk files have them.
-- Read by the layer bulk-catalogue.
create or replace view bulk_products as
select
    p.id_product,
    p.name,
    p.kind,
    p.category,
    g.game,
    p.id_expansion,
    e.name as set_name,
    p.rarity,
    p.number,
    p.image,
    p.image_large,
    p.cardmarket_url,
    p.date_added
from products as p
left join expansions as e on p.id_expansion = e.id
left join game_names as g using (game_folded);

create or replace view bulk_sets as
with counted as (
    select id_expansion as id, count(*) as products, count(*) filter (kind = 'single') as singles
    from products
    group by all
)

select
    e.id,
    e.name,
    g.game,
    coalesce(products, 0) as products,
    coalesce(singles, 0) as singles,
    e.cardmarket_url
from expansions as e
left join counted using (id)
left join game_names as g using (game_folded);
