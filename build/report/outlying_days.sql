-- One row per day of the history that lies apart from the days around it: its game, or else its set; by column of the price
-- guide the middle ratio to the day before; and the most prices of a column that were compared. Python makes guide_history (the
-- bulk files of the price guide). A day of a game is apart from 1.25 times on, one of a set from 2.5 times on.
create or replace view outlying_days as
with history as (
    select
        h.id_product,
        h.day,
        coalesce(p.game, '') as game,
        p.id_expansion,
        unnest([
            {'price': 'trend', 'value': h.trend},
            {'price': 'low', 'value': h.low},
            {'price': 'avg7', 'value': h.avg7},
            {'price': 'avg30', 'value': h.avg30},
            {'price': 'trend_holo', 'value': h.trend_holo}
        ], recursive := true)
    from guide_history as h join prices as p using (id_product)
),

neighbours as (
    select
        *,
        lag(value) over one as before,
        lead(value) over one as after
    from history
    where value > 0
    window one as (partition by id_product, price order by day)
),

parts as (
    select 'game' as part, game as name, day, price, median(value / before) as to_before, median(value / after) as to_after,
        count(*) as prices
    from neighbours
    where before is not null and after is not null
    group by game, day, price
    union all
    select 'set', id_expansion::varchar, day, price, median(value / before), median(value / after), count(*)
    from neighbours
    where before is not null and after is not null and id_expansion is not null
    group by id_expansion, day, price
),
apart as (
    from parts
    where
        prices >= getvariable('enough_prices')::bigint
        and (
            least(to_before, to_after) > case part when 'game' then 1.25 else 2.5 end
            or greatest(to_before, to_after) < 1 / case part when 'game' then 1.25 else 2.5 end
        )
)

select
    day::varchar as day,
    part,
    name,
    map_from_entries(list((price, to_before) order by price)) as columns,
    max(prices) as prices
from apart
where part = 'game' or day not in (select day from apart where part = 'game')
group by day, part, name
order by day, part, name;
