-- The sources of a build: each table of days and, where its rows are of products, each game. Python makes source_rows: a row per
-- row of the last days ("table", id, slug, day, a, b: two of its values), and held_days (which games are held or dropped, by
-- table and day; no game for all). A held day came in, so it is a day of the source, whose rows are not known. Variable as_of is
-- the build's day.
create or replace table source_days as
with rows_of_days as (
    select s."table", coalesce(p.game, '') as game, s.id, s.slug, s.day, s.a, s.b
    from source_rows as s
    left join new_prices as p on s.id = p.id_product
),

counted as (
    select "table", game, day, count(*) as "rows"
    from rows_of_days
    group by all
    union all
    select distinct "table", s.game, h.day, null
    from held_days as h
    join (select distinct "table", game from rows_of_days) as s using ("table")
    anti join rows_of_days as r on r."table" = h."table" and r.game = s.game and r.day = h.day
    where coalesce(h.game, s.game) = s.game and h.day between getvariable('as_of')::date - 27 and getvariable('as_of')::date
),

-- how many rows of a day have the values of the source's day before
repeated as (
    select n."table", n.game, n.day, count(*) filter (o.day is not null and n.a is not distinct from o.a and n.b is not distinct from o.b)
        as same
    from rows_of_days as n
    join (select "table", game, day, lag(day) over (partition by "table", game order by day) as before from counted) as d
        on n."table" = d."table" and n.game = d.game and n.day = d.day
    left join rows_of_days as o
        on n."table" = o."table" and n.game = o.game and o.day = d.before and coalesce(n.id, -1) = coalesce(o.id, -1)
            and n.slug is not distinct from o.slug
    where n.day > getvariable('as_of')::date - 4
    group by all
)

select c.*, same, day - lag(day) over (partition by "table", game order by day) as gap
from counted as c
left join repeated using ("table", game, day);

-- One row per source with at least 10 rows a day: the day of its newest row and its age in days; its usual gap in days (the longest between its
-- days before), how many of the last 4 days have rows, and the share of the days before that have; its newest rows and the least
-- of the 7 days before; and which of its newest rows repeat the values of the day before, now and on the day before.
create or replace view sources as
with newest as (
    select "table", game, max(day) as day, min(day) as first_day, count(*) as days
    from source_days
    group by "table", game
    -- a few rows of a game may miss a day by chance; a table that has one source is judged whatever its size
    qualify avg("rows") >= 10 or count(*) over (partition by "table") = 1
)

select
    n."table",
    n.game,
    n.day,
    getvariable('as_of')::date - n.day as age,
    (select max(gap) from source_days as d where d."table" = n."table" and d.game = n.game and d.day <= n.day) as usual_gap,
    (select count(*) from source_days as d where d."table" = n."table" and d.game = n.game and d.day > getvariable('as_of')::date - 4)
        as last_days,
    (
        select count(*) / greatest(getvariable('as_of')::date - 4 - n.first_day + 1, 1)
        from source_days as d
        where d."table" = n."table" and d.game = n.game and d.day <= getvariable('as_of')::date - 4
    ) as share_before,
    n.days,
    last."rows",
    (
        select min("rows")
        from (
            select "rows" from source_days as d
            where d."table" = n."table" and d.game = n.game and d.day < n.day order by d.day desc limit 7
        )
    ) as least_rows,
    last.same / last."rows" as share_same,
    (
        select max(d.same / d."rows")
        from source_days as d
        where d."table" = n."table" and d.game = n.game and d.day < n.day and d.same is not null
    ) as share_same_before
from newest as n
join source_days as last on n."table" = last."table" and n.game = last.game and n.day = last.day;
