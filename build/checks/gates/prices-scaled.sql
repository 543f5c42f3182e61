-- How far the middle price ratio of a game and column of the price guide lies from 1, for the column that is furthest
-- off: 1 means that its prices doubled or halved. On ordinary nights most prices stay as they are, so the ratio is 1.
with young as (
    -- games that came within the last week, beside older ones: their prices still find their level
    select game
    from sources
    where "table" = 'price_guide' and days < 7 and (select max(days) from sources where "table" = 'price_guide') >= 7
),

ratios as (
    select
        game,
        price,
        median(new::double / old::double) as ratio,
        count(*) as prices,
        greatest(ratio, 1 / ratio) - 1 as distance
    from guide_pairs
    where old > 0 and new > 0
    group by game, price
    having enough(count(*))
)

select
    coalesce(max(distance), 0) as value,
    arg_max({'game': game, 'price': price, 'ratio': ratio, 'prices': prices}, distance) as worst,
    list_value('price_guide') as tables,
    format('half of the {:,} prices in {} of {} are at least {:.3g} times what they were',
           worst['prices'], worst['price'], game_in_words(worst['game']), worst['ratio']) as message
from ratios
where game not in (from young) or distance >= 1
having (select count(*) from old_prices) > 0;
