-- The monitor's checks of the tracked products: one row per check in watch_checks, and the newest check of each product
-- with its offers in newest_watch_checks. `newness` numbers a product's checks from the newest, which is 1: by day,
-- then time. Of rows with the same time, the one that is greatest by all its columns comes first.
create view all_watch_checks as
select
    day,
    slug,
    date_trunc('second', checked_at) as checked_at,
    coalesce(num_offers, len(offer_list)) as num_offers,
    coalesce(price(lowest_price), list_min(list_transform(offer_list, lambda offer: price(offer.price))))
        as lowest_price,
    offer_list,
    row_number() over (
        partition by slug
        order by
            day desc,
            date_trunc('second', checked_at) desc,
            num_offers desc nulls last,
            price(lowest_price) desc nulls last,
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
    ) as newness
from raw.watch_checks
semi join raw.watchlist using (slug);

create table watch_checks as
from (select * exclude (offer_list) from all_watch_checks);

create table newest_watch_checks as
from all_watch_checks
where newness = 1;
