-- The number of days by which half of a game's products have prices older than the as-of day, for the game that is
-- furthest behind; 0 for a game that is no further behind than in the live build. A game that has no row at all on the newest
-- day does not count: it is held or late, which the night says, and its prices stay as they were.
with old_days as (
    select game_now as game, quantile_disc(b.as_of - p.guide_day, 0.5) as days
    from old_games as p
    cross join old_build as b
    where p.guide_day is not null
    group by all
),

new_days as (
    select coalesce(game, '') as game, quantile_disc(b.as_of - p.guide_day, 0.5) as days
    from new_prices as p
    semi join games_of_the_day on coalesce(game, '') = game_now
    cross join new_build as b
    where p.guide_day is not null
    group by all
    having enough(count(*))
)

select
    coalesce(max(n.days) filter (n.days > o.days), 0) as value,
    arg_max(n.game, n.days) filter (n.days > o.days) as behind,
    format('half of the prices of {} are at least {} days older than the as-of day', game_in_words(behind), value) as message
from new_days as n
join old_days as o using (game)
having (select count(*) from old_prices where guide_day is not null) > 0;
