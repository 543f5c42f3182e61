-- The share of a game's prices that were below what is the lowest one now, for the game and column of the price guide with
-- the most. The marketplace raised its lowest price once; a filter of small prices looks the same.
with lowest as (
    select game, price, count(*) as prices, min(new) as lowest
    from guide_pairs
    where new > 0
    group by game, price
    having enough_for_a_game(count(*))
),

risen as (
    select game, price, any_value(prices) as prices, any_value(lowest) as lowest, count(*) filter (old > 0 and old < lowest) as many
    from guide_pairs
    join lowest using (game, price)
    group by game, price
)

select
    coalesce(max(many / prices), 0) as value,
    arg_max({'game': game, 'price': price, 'many': many, 'lowest': lowest}, many / prices) as worst,
    format('no price in {} of {} is below {}; {:,} were',
           worst['price'], game_in_words(worst['game']), worst['lowest'], worst['many']) as message
from risen
having (select count(*) from old_prices) > 0;
