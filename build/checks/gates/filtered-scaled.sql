-- How far the middle ratio of the lowest prices under the seller filter that came in lies from 1, for the game that is furthest off: 1 means that
-- they doubled or halved. Another currency, another filter or cents do this.
with renewed as (
    select o.game_now as game, n.filtered::double / o.filtered::double as ratio
    from old_games as o join new_prices as n using (id_product)
    where n.filtered_day > o.filtered_day and o.filtered > 0 and n.filtered > 0
),

ratios as (
    select game, median(ratio) as ratio, count(*) as prices, greatest(median(ratio), 1 / median(ratio)) - 1 as distance
    from renewed
    group by game
    having enough(count(*))
)

select
    coalesce(max(distance), 0) as value,
    arg_max({'game': game, 'ratio': ratio, 'prices': prices}, distance) as worst,
    list_value('filtered_checks') as tables,
    format('half of the {:,} lowest prices under the seller filter of {} that came in are at least {:.3g} times what they were',
           worst['prices'], game_in_words(worst['game']), worst['ratio']) as message
from ratios
having (select count(*) from old_prices) > 0;
