-- The same as filtered-scaled for games with many checks that came in (variable enough_priced): half of them stay as they are, so a
-- little is much.
with ratios as (
    select o.game_now as game, median(n.filtered::double / o.filtered::double) as ratio, count(*) as prices,
        greatest(ratio, 1 / ratio) - 1 as distance
    from old_games as o join new_prices as n using (id_product)
    where n.filtered_day > o.filtered_day and n.filtered_day - o.filtered_day <= 14 and o.filtered > 0 and n.filtered > 0
    group by all
    having enough_for_a_game(count(*))
)

select
    coalesce(max(distance), 0) as value,
    arg_max({'game': game, 'ratio': ratio, 'prices': prices}, distance) as worst,
    list_value('filtered_checks') as tables,
    format('half of the {:,} lowest prices under the seller filter of {} that came in are at least {:.3g} times what they were',
           worst['prices'], game_in_words(worst['game']), worst['ratio']) as message
from ratios
having (select count(*) from old_prices) > 0;
