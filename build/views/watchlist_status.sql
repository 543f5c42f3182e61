-- One row: the part of the status object about the watchlist monitor, as JSON.
-- Stored by the layer watchlist, read by the layer status.
create view watchlist_status as
select to_json({
    'watchlist': {
        'products': (select count(*) from watchlist),
        'checked': count(slug),
        'last_checked': time_text(max(checked_at))
    }
})::varchar as json
from newest_watch_checks;
