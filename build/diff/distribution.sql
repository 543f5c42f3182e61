-- One row per price, kind (and `all`) and band of moves in percent: how many prices moved by that much. `low` and
-- `high` bound a band; the bound nearer to zero belongs to the band, the other one to the next band. Null: no bound.
create view distribution as
with bands as (
    from (values
        ('up', 0, 1), ('up', 1, 2), ('up', 2, 5), ('up', 5, 10), ('up', 10, 25), ('up', 25, 50), ('up', 50, 100),
        ('up', 100, null),
        ('down', 0, 1), ('down', 1, 2), ('down', 2, 5), ('down', 5, 10), ('down', 10, 25), ('down', 25, 50),
        ('down', 50, null)
    ) as bands(way, low, high)
),

moves as (
    select price, coalesce(kind, 'all') as kind, way, low, count(*) as n_moves
    from prices
    join products using (id)
    join bands using (way)
    where abs(change_pct) >= low and (high is null or abs(change_pct) < high)
    group by grouping sets ((price, way, low), (price, kind, way, low))
)

select
    price,
    kind,
    case way when 'up' then bands.low else -high end as low,
    case way when 'up' then high else -bands.low end as high,
    coalesce(n_moves, 0) as moves
from price_counts
cross join bands
left join moves using (price, kind, way, low)
order by
    price_place(price),
    kind_place(kind),
    way, case way when 'up' then bands.low else -bands.low end;
