-- How far half of a game's prices moved at least, up or down, for the game and column of the price guide in which they moved
-- the furthest: 0.2 means that half of them moved by a fifth or more. On ordinary nights most prices stay as they are.
with moves as (
    select game, price, median(greatest(new::double / old::double, old::double / new::double)) - 1 as distance, count(*) as prices
    from guide_pairs
    where old > 0 and new > 0 and (steady(price) or starts_with(price, 'low'))
    group by game, price
    having enough_for_a_game(count(*))
)

select
    coalesce(max(distance), 0) as value,
    arg_max({'game': game, 'price': price, 'prices': prices}, distance) as worst,
    list_value('price_guide') as tables,
    format('half of the {:,} prices in {} of {} moved by at least {:.1f} %',
           worst['prices'], worst['price'], game_in_words(worst['game']), 100 * value) as message
from moves
having (select count(*) from old_prices) > 0;
