-- How far the middle price ratio of a game lies from 1, for the game and column of the price guide that is furthest off,
-- against the live build and against the build of a week ago. Only games with many prices count (variable enough_priced):
-- more than half of their prices stay as they are, even for weeks.
with pairs as (
    select 'the live build' as against, game, price, old, new from guide_pairs
    union all
    select 'the build of a week ago', game, price, week, new from past_pairs where week is not null
),

ratios as (
    select
        against,
        game,
        price,
        median(new::double / old::double) as ratio,
        count(*) as prices,
        greatest(ratio, 1 / ratio) - 1 as distance
    from pairs
    where old > 0 and new > 0 and (steady(price) or starts_with(price, 'low'))
    group by against, game, price
    having enough_for_a_game(count(*))
)

select
    coalesce(max(distance), 0) as value,
    arg_max({'against': against, 'game': game, 'price': price, 'ratio': ratio, 'prices': prices}, distance) as worst,
    list_value('price_guide') as tables,
    format('half of the {:,} prices in {} of {} are at least {:.3g} times those of {}',
           worst['prices'], worst['price'], game_in_words(worst['game']), worst['ratio'], worst['against']) as message
from ratios
having (select count(*) from old_prices) > 0;
