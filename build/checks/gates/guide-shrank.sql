-- The share of rows that the newest price guide lacks, compared with the newest price guide of the live build. Games that have
-- no row there at all do not count.
with counted as (
    select
        (
            select count(*)
            from old_games
            semi join games_of_the_day using (game_now)
            where guide_day = (select max(guide_day) from old_prices)
        ) as before,
        (select count(*) from new_prices where guide_day = (select max(guide_day) from new_prices)) as after
)

select
    share(greatest(before - after, 0), before) as value,
    before,
    after,
    list_value('price_guide') as tables,
    format('the newest price guide has {:,} rows; the live one had {:,}', after, before) as message
from counted
where before > 0;
