-- How far the middle price ratio of a game lies from 1 on a day that the live build did not read, against the nearest day that it
-- read (known_days), or else against the newest prices, for the game, day and column of the price guide that are furthest off. It
-- judges the days before the newest.
with pairs as (
    select
        coalesce(n.game, '') as game,
        d.day,
        unnest([
            {'price': 'trend', 'past': d.trend, 'now': coalesce(k.trend, n.trend)},
            {'price': 'low', 'past': d.low, 'now': coalesce(k.low, n.low)},
            {'price': 'avg7', 'past': d.avg7, 'now': coalesce(k.avg7, n.avg7)},
            {'price': 'avg30', 'past': d.avg30, 'now': coalesce(k.avg30, n.avg30)},
            {'price': 'trend_holo', 'past': d.trend_holo, 'now': coalesce(k.trend_holo, n.trend_holo)},
            {'price': 'low_holo', 'past': d.low_holo, 'now': coalesce(k.low_holo, n.low_holo)}
        ], recursive := true)
    from unread_days as d
    join new_prices as n using (id_product)
    left join known_days as k on d.id_product = k.id_product and d.day = k.near
),

ratios as (
    select
        game,
        day,
        price,
        median(past / now::double) as ratio,
        count(*) as prices,
        greatest(ratio, 1 / ratio) - 1 as distance
    from pairs
    where past > 0 and now > 0
    group by game, day, price
    having enough(count(*))
)

select
    coalesce(max(distance), 0) as value,
    arg_max({'game': game, 'day': day, 'price': price, 'ratio': ratio, 'prices': prices}, distance) as worst,
    list({'day': day::varchar, 'distance': distance}) as days,
    list_value('price_guide') as tables,
    format('half of the {:,} prices in {} of {} on {}, a day that is new in the history, are at least {:.3g} times the newest ones',
           worst['prices'], worst['price'], game_in_words(worst['game']), worst['day'], worst['ratio']) as message
from ratios
having (select count(*) from old_prices) > 0;
