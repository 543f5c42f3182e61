-- The share of a game's averages that are closer to what another average was in the live build than to what they were
-- themselves. This finds columns that were swapped or copied.
with pairs as (
    select
        o.game_now as game,
        unnest([
            {'price': 'avg7', 'new': n.avg7, 'old': o.avg7, 'others': [o.avg1, o.avg30]},
            {'price': 'avg30', 'new': n.avg30, 'old': o.avg30, 'others': [o.avg1, o.avg7]},
            {'price': 'avg7_holo', 'new': n.avg7_holo, 'old': o.avg7_holo, 'others': [o.avg1_holo, o.avg30_holo]},
            {'price': 'avg30_holo', 'new': n.avg30_holo, 'old': o.avg30_holo, 'others': [o.avg1_holo, o.avg7_holo]}
        ], recursive := true)
    from old_games as o join new_prices as n using (id_product)
),

mixed as (
    select
        game,
        price,
        count(*) as prices,
        greatest(
            count(*) filter (abs(new - others[1]) < abs(new - old)), count(*) filter (abs(new - others[2]) < abs(new - old))
        ) as many
    from pairs
    where new is not null and old is not null
    group by game, price
    having enough_for_a_game(count(*))
)

select
    coalesce(max(many / prices), 0) as value,
    arg_max({'game': game, 'price': price, 'many': many, 'prices': prices}, many / prices) as worst,
    list_value('price_guide') as tables,
    format('{:,} of {:,} prices in {} of {} are closer to what another average was',
           worst['many'], worst['prices'], worst['price'], game_in_words(worst['game'])) as message
from mixed
having (select count(*) from old_prices) > 0;
