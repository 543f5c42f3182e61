-- The share of changed prices that are what they were in the build before the live one, for the game and column of the price guide
-- with the most. An older guide does this, and so does a good one after a night of wrong prices.
with back as (
    select game, price, count(*) as changed, count(*) filter (new = before) as many
    from past_pairs
    where new <> old and steady(price)
    group by game, price
    having enough_for_a_game(count(*) * 10)
)

select
    coalesce(max(many / changed), 0) as value,
    arg_max({'game': game, 'price': price, 'many': many, 'changed': changed}, many / changed) as worst,
    format('{:,} of {:,} changed prices in {} of {} are those of the build before the live one: one of the two is wrong',
           worst['many'], worst['changed'], worst['price'], game_in_words(worst['game'])) as message
from back
having (select count(*) from old_prices) > 0;
