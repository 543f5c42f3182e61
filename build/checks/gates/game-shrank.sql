-- The share of rows that a game's newest price guide lacks, compared with the game's newest one in the live build, for
-- the game that lacks the most.
with old_rows as (
    select game_now as game, count(*) as rows
    from old_games as p
    where guide_day = (select max(guide_day) from old_games as q where q.game_now = p.game_now)
    group by all
    having enough(count(*))
),

-- by the game of the live build: a list that moves products to other games is no fault of a guide
placed as (
    select coalesce(o.game_now, n.game, '') as game_now, n.guide_day
    from new_prices as n left join old_games as o using (id_product)
),

new_rows as (
    select game_now as game, count(*) as rows
    from placed as p
    where guide_day = (select max(guide_day) from placed as q where q.game_now = p.game_now)
    group by all
)

select
    coalesce(max(greatest(1 - coalesce(n.rows, 0) / o.rows, 0)), 0) as value,
    arg_max({'game': game, 'before': o.rows, 'after': coalesce(n.rows, 0)}, 1 - coalesce(n.rows, 0) / o.rows) as worst,
    list_value('price_guide') as tables,
    format('the newest price guide of {} has {:,} rows; the live one had {:,}',
           game_in_words(worst['game']), worst['after'], worst['before']) as message
from old_rows as o
left join new_rows as n using (game)
having (select count(*) from old_prices where guide_day is not null) > 0;
