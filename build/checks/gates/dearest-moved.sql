-- The share of a game's 200 dearest products whose price rose or fell by more than a factor of 5, or whose trend is gone, for the
-- game and column of the price guide in which the most did. The dearest of either build count.
with ranked as (
    select
        id_product,
        row_number() over (partition by game_now order by o.trend desc nulls last, id_product) as old_rank,
        row_number() over (partition by game_now order by n.trend desc nulls last, id_product) as new_rank
    from old_games as o join new_prices as n using (id_product)
),

moved as (
    select game, price, count(*) as prices, count(*) filter (new is null or greatest(new / old, old / new) > 5) as many
    from guide_pairs
    semi join (from ranked where old_rank <= 200 or new_rank <= 200) using (id_product)
    where old > 0 and (new > 0 or (new is null and price = 'trend'))
    group by game, price
    having enough(count(*))
)

select
    coalesce(max(many / prices), 0) as value,
    arg_max({'game': game, 'price': price, 'many': many, 'prices': prices}, many / prices) as worst,
    list_value('price_guide') as tables,
    format('{:,} of the {:,} highest prices in {} of {} moved by more than a factor of 5, or are gone',
           worst['many'], worst['prices'], worst['price'], game_in_words(worst['game'])) as message
from moved
having (select count(*) from old_prices) > 0;
