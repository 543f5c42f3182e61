-- The games of the newest day that have enough prices to be judged alone, on it or in the live build.
with newest as (
    select coalesce(game, '') as game from new_prices where guide_day = (select max(guide_day) from new_prices)
),

before as (
    select coalesce(game, '') as game from old_prices where guide_day = (select max(guide_day) from old_prices)
)

select game from newest group by all having enough(count(*))
union
select game from before semi join newest using (game) group by all having enough(count(*))
order by game;
