-- The share of products that a game gained since the live build, for the game that gained the most. Only games with many
-- products there count (variable enough_priced).
with products as (
    select
        coalesce(n.game, '') as game,
        count(*) filter (o.id_product is not null) as before,
        count(*) filter (o.id_product is null) as added
    from new_prices as n
    left join old_prices as o using (id_product)
    group by all
    having enough_for_a_game(before)
)

select
    coalesce(max(added / before), 0) as value,
    arg_max({'game': game, 'before': before, 'added': added}, added / before) as worst,
    format('{} had {:,} products and gained {:,}', game_in_words(worst['game']), worst['before'], worst['added']) as message
from products
having (select count(*) from old_prices) > 0;
