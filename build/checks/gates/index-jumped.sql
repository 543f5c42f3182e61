-- How far the index of a game has moved since the newest day of the live build, for the game that moved the most: 0.2 means
-- that it rose or fell by a fifth. Only games with many prices in both builds count (variable enough_priced).
with moved as (
    select *, abs("index" - index_before) / index_before as distance
    from game_indexes
    where index_before > 0 and least(priced, priced_before) >= getvariable('enough_priced')::bigint
)

select
    coalesce(max(distance), 0) as value,
    arg_max(
        {'game': game, 'day': day, 'index': "index", 'day_before': day_before, 'index_before': index_before}, distance
    ) as worst,
    list_value('price_guide') as tables,
    format('the index of {} was {:.2f} on {} and is {:.2f} on {}', game_in_words(worst['game']),
           worst['index_before'], worst['day_before'], worst['index'], worst['day']) as message
from moved
having (select count(*) from old_indexes) > 0;
