-- The share of a game's prices that changed to one and the same price of at least a euro, for the game and column of the price guide
-- with the most. A parked or made-up price does this.
with changed as (
    select game, price, new, count(*) as many
    from guide_pairs
    where new >= 1 and new is distinct from old
    group by all
),

counted as (
    select game, price, max(many) as many, arg_max(new, many) as same, any_value(prices) as prices
    from changed
    join (select game, price, count(new) as prices from guide_pairs group by all) using (game, price)
    where enough(prices)
    group by game, price
)

select
    coalesce(max(share(many, prices)), 0) as value,
    arg_max({'game': game, 'price': price, 'many': many, 'same': same, 'prices': prices}, share(many, prices)) as worst,
    list_value('price_guide') as tables,
    format('{:,} of {:,} prices in {} of {} changed to {}', worst['many'], worst['prices'], worst['price'],
           game_in_words(worst['game']), worst['same']) as message
from counted
having (select count(*) from old_prices) > 0;
