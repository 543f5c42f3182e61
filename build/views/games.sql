-- One row per game of an expansion: the Game as JSON.
-- Kept by the layer catalogue, read by the layer games.
create view games as
with sets as (
    select game_folded, count(*) as sets
    from expansions
    group by game_folded
),

counted as (
    select
        game_folded,
        count(*) as products,
        count(*) filter (kind = 'single') as singles,
        max(guide.day) as price_guide_day
    from products
    join expansions on products.id_expansion = expansions.id
    left join newest_price_guide as guide using (id_product)
    group by game_folded
)

select game_folded as name_folded, to_json({
    'name': game,
    'products': coalesce(products, 0),
    'singles': coalesce(singles, 0),
    'sets': sets,
    'price_guide_day': price_guide_day
})::varchar as json
from game_names
join sets using (game_folded)
left join counted using (game_folded)
order by name_folded;
