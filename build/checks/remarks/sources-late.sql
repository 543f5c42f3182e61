-- The number of sources, each a table and a game, that stopped, slowed down, lost rows or repeat themselves, against their own
-- rhythm of the last four weeks. A source is late from the second day on that it misses.
with found as (
    select
        "table",
        game,
        case
            when age > greatest(usual_gap, 1) then
                format('{} days old (newest day {}), its usual gap is {}', age, day, greatest(usual_gap, 1))
            when last_days <= 2 and share_before >= 0.9 and days >= 10 then
                format('only {} of the last 4 days have rows', last_days)
            when "rows" < 0.7 * least_rows and days >= 5 and least_rows >= 20 then
                format('{:,} rows on {}, at least {:,} on the 7 days before', "rows", day, least_rows)
            when share_same >= 0.995 and share_same_before < 0.9 and "rows" >= 20 and age = 0 then
                format('all {:,} rows of {} repeat the day before', "rows", day)
        end as why
    from sources
)

select
    count(*) as value,
    format('late or thin: {}', string_agg(format('{}{} ({})', "table",
        case when game = '' then '' else ' of ' || game end, why), '; ' order by "table", game)) as message
from found
where why is not null
having count(*) > 0;
