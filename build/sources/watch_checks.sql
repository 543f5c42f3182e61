-- The monitor's checks: one row per check in all_watch_checks, also of products that are not tracked; one row per check
-- of a tracked product in watch_checks, and the newest check of each product with its offers in newest_watch_checks.
-- `newness` numbers a product's checks from the newest, which is 1: by day, then time. Of rows with the same time, the
-- one that is greatest by all its columns comes first. Only the offers of such rows, and of the newest checks, are read
-- as a whole: texts of offers are most of the bytes.
create table all_watch_checks as
select
    day,
    slug,
    date_trunc('second', checked_at) as checked_at,
    num_offers as given_offers,
    price(lowest_price) as given_price,
    coalesce(num_offers, len(offer_list)) as num_offers,
    coalesce(price(lowest_price), list_min(list_transform(offer_list, lambda offer: price(offer.price))))
        as lowest_price
from raw.watch_checks;

create table repeated_watch_checks as
with repeated as (
    select slug, day, checked_at from all_watch_checks group by all having count(*) > 1
),

whole as (
    select * replace (date_trunc('second', checked_at) as checked_at) from raw.watch_checks
)

select
    day,
    slug,
    checked_at,
    num_offers as given_offers,
    price(lowest_price) as given_price,
    coalesce(num_offers, len(offer_list)) as num_offers,
    coalesce(price(lowest_price), list_min(list_transform(offer_list, lambda offer: price(offer.price))))
        as lowest_price,
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
    }) as compared_offers,
    offer_list,
    true as repeats
from whole
semi join repeated using (slug, day, checked_at);

create table numbered_watch_checks as
with checks as (
    from all_watch_checks
    anti join repeated_watch_checks using (slug, day, checked_at)
    union all by name
    from repeated_watch_checks
)

select
    day,
    slug,
    checked_at,
    num_offers,
    lowest_price,
    row_number() over (
        partition by slug
        order by
            day desc,
            checked_at desc,
            given_offers desc nulls last,
            given_price desc nulls last,
            compared_offers desc nulls last
    ) as newness,
    case when newness = 1 then offer_list end as offer_list,
    coalesce(repeats, false) as repeats
from checks
semi join raw.watchlist using (slug);

create view watch_checks as
select * exclude (offer_list, repeats) from numbered_watch_checks;

set variable first_newest_check = (select min(checked_at) from numbered_watch_checks where newness = 1);

create table newest_watch_checks as
with offers as (
    select slug, day, date_trunc('second', checked_at) as checked_at, offer_list
    from raw.watch_checks
    where checked_at >= getvariable('first_newest_check')::timestamp
)

select n.* exclude (repeats) replace (case when repeats then n.offer_list else o.offer_list end as offer_list)
from numbered_watch_checks as n
left join offers as o on not n.repeats and n.slug = o.slug and n.day = o.day and n.checked_at = o.checked_at
where n.newness = 1;
