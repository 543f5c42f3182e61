-- Watch checks that no answer shows, one row per reason. A build reports them.
-- Stored by the layer watchlist.
create view watch_left_out as
with reasons as (
    select 'watch_checks' as "table", unnest([
        {
            'reason': 'rows of unknown slugs left out',
            'rows': count(*) filter (known is null),
            'example': min(concat('slug ', slug)) filter (known is null)
        },
        {
            'reason': 'rows with a time outside their day',
            'rows': count(*) filter (checked_at::date <> day),
            'example': min(concat('slug ', slug)) filter (checked_at::date <> day)
        }
    ], recursive := true)
    from all_watch_checks
    left join (select slug, true as known from raw.watchlist) using (slug)
)

select "table", reason, "rows", example
from reasons
where "rows" > 0
order by "table", reason;
