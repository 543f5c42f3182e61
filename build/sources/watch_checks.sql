-- The monitor's checks of the tracked products: one row per check in watch_checks, and the newest check of each product
-- with its offers in newest_watch_checks. `newness` numbers a product's checks from the newest, which is 1: by day,
-- then time. Of rows with the same time, the one that is greatest by all its columns comes first. Only such rows are
-- compared by their offers, which takes long.
create table numbered_watch_checks as
with timed as (
    select * replace (date_trunc('second', checked_at) as checked_at)
    from raw.watch_checks
    semi join raw.watchlist using (slug)
),

counted as (
    select *, count(*) over (partition by slug, day, checked_at) > 1 as repeats from timed
)

select
    day,
    slug,
    checked_at,
    coalesce(num_offers, len(offer_list)) as num_offers,
    coalesce(price(lowest_price), list_min(list_transform(offer_list, lambda offer: price(offer.price))))
        as lowest_price,
    row_number() over (
        partition by slug
        order by
            day desc,
            checked_at desc,
            counted.num_offers desc nulls last,
            price(counted.lowest_price) desc nulls last,
            case when repeats then list_transform(offer_list, lambda offer: {
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
            }) end desc nulls last
    ) as newness,
    case when newness = 1 then offer_list end as offer_list
from counted;

create view watch_checks as
select * exclude (offer_list) from numbered_watch_checks;

create view newest_watch_checks as
from numbered_watch_checks
where newness = 1;
