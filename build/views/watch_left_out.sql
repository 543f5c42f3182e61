-- Watch checks that no answer shows, one row per reason. A build reports them.
-- Stored by the layer watchlist.
create view watch_left_out as
with reasons as (
    select 'rows of unknown slugs left out' as reason, count(*) as "rows", min(concat('slug ', slug)) as example
    from raw.watch_checks anti join raw.watchlist using (slug)
    union all
    select 'rows with a time outside their day', count(*), min(concat('slug ', slug))
    from raw.watch_checks
    where checked_at::date <> day
)

select 'watch_checks' as "table", reason, "rows", example
from reasons
where "rows" > 0
order by reason;
