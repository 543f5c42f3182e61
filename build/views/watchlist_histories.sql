-- One row per tracked product, bucket size and range: the watchlist history as JSON. Read by the layer watchlist.
create view watchlist_histories as
with wanted as (
    select view, range, first_day
    from (values ('daily'), ('weekly'), ('monthly')) as views(view)
    cross join (values
        ('all', date '0001-01-01'),
        ('30d', getvariable('as_of')::date - 29),
        ('90d', getvariable('as_of')::date - 89),
        ('365d', getvariable('as_of')::date - 364)
    ) as ranges(range, first_day)
),

points as (
    select
        slug,
        view,
        range,
        case view
            when 'daily' then day
            when 'weekly' then date_trunc('week', day)::date
            else date_trunc('month', day)::date
        end as bucket,
        average(sum(total), sum(priced)) as price
    from watch_days
    join wanted on day >= first_day
    group by all
),

histories as (
    select
        slug,
        view,
        range,
        list({'date': bucket, 'price': price::double} order by bucket) as points,
        count(price) as priced,
        arg_min(price, bucket) as first_price,
        arg_max(price, bucket) as last_price
    from points
    group by all
)

select slug, view, range, to_json({
    'slug': slug,
    'view': view,
    'range': range,
    'points': coalesce(points, []),
    'change_pct_over_range': case when priced > 1 then change_pct(last_price, first_price) end
})::varchar as json
from watchlist
cross join wanted
left join histories using (slug, view, range)
order by slug, view, range;
