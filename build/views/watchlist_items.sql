-- The price of each tracked product that is nearest to a time before its newest check, such as 24 hours, and at most
-- `slack` away from it; of equally near ones the earlier.
create or replace macro price_before(span, slack) as table
select c.slug, arg_min(c.lowest_price, {
    'away': abs(epoch(c.checked_at - (n.checked_at - span))), 'at': c.checked_at, 'day': c.day, 'newness': c.newness
}) as price
from watch_checks as c
join newest_watch_checks as n using (slug)
where c.lowest_price is not null
    and c.checked_at between n.checked_at - span - slack and n.checked_at - span + slack
group by all;

-- One row per tracked product: the WatchlistItem as JSON. Read by the layer watchlist.
create view watchlist_items as
with last_days as (
    select (getvariable('as_of')::date - back::integer) as day from range(14) as days(back)
),

sparkline as (
    select slug, list(average(total, priced)::double order by day) as prices
    from watchlist
    cross join last_days
    left join watch_days using (slug, day)
    group by all
)

select w.slug, w.slug_folded, to_json({
    'slug': w.slug,
    'name': w.name,
    'game': w.game,
    'cardmarket_url': w.cardmarket_url,
    'lowest_price': n.lowest_price::double,
    'num_offers': n.num_offers,
    'last_checked': time_text(n.checked_at),
    'change_24h_pct': change_pct(n.lowest_price, d.price),
    'change_7d_pct': change_pct(n.lowest_price, k.price),
    'sparkline_14d': s.prices
})::varchar as json
from watchlist as w
left join newest_watch_checks as n using (slug)
left join price_before(interval 24 hours, interval 12 hours) as d using (slug)
left join price_before(interval 7 days, interval 1 day) as k using (slug)
left join sparkline as s using (slug)
order by w.slug_folded;
