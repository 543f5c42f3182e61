-- The age in days of the newest row of a table (variable aged_table), for the game whose row is the oldest; of a table
-- whose sources are all small, that of the table as a whole. Without a row in so many days (variable source_days), one more.
with ages as (
    select age, day, game, 1 as place from sources where "table" = getvariable('aged_table')
    union all
    select getvariable('as_of')::date - max(day), max(day), '', 2
    from source_days where "table" = getvariable('aged_table')
    having count(*) > 0
    union all
    select getvariable('source_days') + 1, null, '', 3
)

select
    age as value,
    format('the newest row of {}{} {}', getvariable('aged_table'), case when game = '' then '' else ' of ' || game end,
        coalesce('is of ' || day, format('is older than {} days, or there is none', getvariable('source_days')))) as message
from ages
order by place, age desc, game
limit 1;
