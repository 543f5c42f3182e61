-- The share of records that the bulk files of a table lost since the live build, for the table that lost the most. The
-- watchlist is left out, because operators take products off it. Identifiers have a gate of their own, and prices several.
select
    share(greatest(o.records - n.records, 0), o.records) as value,
    content as "table",
    o.records as before,
    n.records as after,
    list_value(o.lake_table) as tables,
    true as known_days,
    format('the bulk files of {} have {:,} records; the live ones have {:,}', content, after, before) as message
from old_bulk as o
join new_bulk as n using (content)
where o.records > 0 and content not in ('watchlist', 'identifiers', 'prices')
order by value desc, content
limit 1;
