-- How many prices appeared where there was none, as a share of those that a game had, for the game and column of the price guide with
-- the most. A floor in place of no price does this. Only games with many prices count (variable enough_priced).
with counted as (
    select game, price, count(old) as prices, count(*) filter (old is null) as many
    from guide_pairs
    group by game, price
    having enough_for_a_game(count(old))
)

select
    coalesce(max(many / prices), 0) as value,
    arg_max({'game': game, 'price': price, 'many': many, 'prices': prices}, many / prices) as worst,
    list_value('price_guide') as tables,
    format('{:,} prices in {} of {} appeared where there was none; {:,} were there', worst['many'], worst['price'],
           game_in_words(worst['game']), worst['prices']) as message
from counted
having (select count(*) from old_prices) > 0;
