-- The share of a game's products that are of another game now, or of none, for the game of which the most are. A list of products
-- or expansions with gaps does this.
with products as (
    select o.game_now as game, count(*) as products, count(*) filter (coalesce(n.game, '') <> o.game_now) as many
    from old_games as o join new_prices as n using (id_product)
    where o.game is not null
    group by all
    having enough(products)
)

select
    coalesce(max(share(many, products)), 0) as value,
    arg_max({'game': game, 'many': many, 'products': products}, share(many, products)) as worst,
    format('{:,} of {:,} products of {} belong to no expansion of it any more',
           worst['many'], worst['products'], game_in_words(worst['game'])) as message
from products
having (select count(*) from old_prices) > 0;
