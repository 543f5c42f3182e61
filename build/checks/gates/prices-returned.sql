-- The share of changed prices that are what they were in the build of a week ago, for the game and column of the price guide
-- in which the most are. This finds an old file, or a part of one, under today's name.
-- Prices that the build before the live one had too do not count: they come back after a night of wrong prices.
with returned as (
    select game, price, count(*) as changed, count(*) filter (new = week and new is distinct from before) as many
    from past_pairs
    where week is not null and new != old and steady(price)
    group by game, price
    having enough_for_a_game(count(*) * 10)
)

select
    coalesce(max(many / changed), 0) as value,
    arg_max({'game': game, 'price': price, 'many': many, 'changed': changed}, many / changed) as worst,
    list_value('price_guide') as tables,
    format('{:,} of {:,} changed prices in {} of {} are those of a week ago',
           worst['many'], worst['changed'], worst['price'], game_in_words(worst['game'])) as message
from returned
having (select count(*) from old_prices) > 0;
