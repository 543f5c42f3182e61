-- The share of a game's rows of the price guide that a past day lost since the live build, for the game and day that lost the
-- most. Days that a person withdrew do not count.
with rows_of_days as (
    select coalesce(n.game, '') as game, o.day, d.id_product is null as lost
    from live_days as o
    join new_prices as n using (id_product)
    left join unread_days as d on o.id_product = d.id_product and o.day = d.day
    where not list_contains(getvariable('withdrawn')::varchar[], o.day::varchar)
),

losses as (
    select game, day, count(*) filter (lost) as many, count(*) as "rows"
    from rows_of_days
    group by all
    having enough(count(*))
)

select
    coalesce(max(many / "rows"), 0) as value,
    arg_max({'game': game, 'day': day, 'many': many, 'rows': "rows"}, row(many / "rows", day, game)) as worst,
    list({'day': day::varchar, 'distance': many / "rows"} order by day, many / "rows") as days,
    list_value('price_guide') as tables,
    format('{:,} of the {:,} rows of {} on {}, a past day, are gone', worst['many'], worst['rows'],
           game_in_words(worst['game']), worst['day']) as message
from losses
having (select count(*) from old_prices) > 0;
