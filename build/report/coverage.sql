-- One row per game and kind, per game, per kind, and one for all: the number of products, and how many of them have each
-- price. The 20 games with the most products have rows of their own, the rest is `other games`; '' means no game.
create view coverage as
with games as (
    select
        coalesce(game, '') as game,
        row_number() over (order by count(*) desc, coalesce(game, '')) as place
    from prices
    group by coalesce(game, '')
),

grouped as (
    select
        case when place > 20 then 'other games' else games.game end as game,
        least(place, 21) as place,
        prices.* exclude (game)
    from prices
    join games on coalesce(prices.game, '') = games.game
)

select
    coalesce(game, 'all') as game,
    coalesce(kind, 'all') as kind,
    grouping(game) = 1 as all_games,
    count(*) as products,
    count(trend) as trend,
    count(low) as low,
    count(avg) as avg,
    count(filtered) as filtered,
    count(filtered_day) as checked,
    count(from_price) as from_price
from grouped
group by grouping sets ((), (kind), (game, place), (game, place, kind))
order by all_games desc, coalesce(place, 0), list_position(['all', 'single', 'sealed'], coalesce(kind, 'all'));
