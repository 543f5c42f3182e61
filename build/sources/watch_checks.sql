-- The monitor's checks of tracked products: one row per check in watch_checks, and the newest check of each product with
-- its offers in newest_watch_checks. raw.watch_checks holds the days of watch_times_with_offers.
--
-- `newness` numbers a product's checks from the newest, which is 1: by day, then time. Of rows with the same time, the
-- one that is greatest by all its columns comes first.

-- The checks of these times with their offers. `place` orders those of one time: the greatest by all columns has 1.
create table watch_checks_with_offers as
with summaries as (
    from watch_summaries_of('raw.watch_checks')
)

select *, row_number() over (
    partition by slug, day, checked_at
    order by
        given_offers desc nulls last,
        given_price desc nulls last,
        list_transform(offer_list, lambda offer: {
            'has_seller': offer.seller is not null,
            'seller': coalesce(offer.seller, ''),
            'has_condition': offer.condition is not null,
            'condition': coalesce(offer.condition, ''),
            'has_quantity': offer.quantity is not null,
            'quantity': coalesce(offer.quantity, ''),
            'has_price': offer.price is not null,
            'price': coalesce(price(offer.price), 0),
            'has_comment': offer.comment is not null,
            'comment': coalesce(offer.comment, '')
        }) desc nulls last
) as place
from watch_checks_of('summaries')
semi join watch_times_with_offers using (slug, day, checked_at);

create table watch_checks as
with checks as (
    select *, 1 as place
    from all_watch_checks
    semi join raw.watchlist using (slug)
    anti join watch_times_with_offers using (slug, day, checked_at)
    union all by name
    select * exclude (offer_list) from watch_checks_with_offers
)

select
    day,
    slug,
    checked_at,
    num_offers,
    lowest_price,
    place,
    row_number() over (partition by slug order by day desc, checked_at desc, place) as newness
from checks;

create view newest_watch_checks as
select n.*, o.offer_list
from watch_checks as n
join watch_checks_with_offers as o using (slug, day, checked_at, place)
where n.newness = 1;

-- One row per tracked product and day with a check: the sum of the lowest prices, how many there are, and all checks.
create table watch_days as
select
    slug,
    day,
    sum(lowest_price) as total,
    count(lowest_price) as priced,
    count(*) as checks
from watch_checks
group by all;
