-- The re-checks under the seller filter: one row per product and day, the latest of the day. At equal times the row
-- that is greatest by all its columns, null least. Only products that repeat within a day are sorted.
--
-- `ranked_offers` are the offers that can be shown, cheapest first: by price, seller (code points), place in the
-- list; null where the check kept no list. `dropped` counts those that lack a price, a seller or a known condition.
create view filtered_checks as
with typed as (
    select
        day,
        id_product,
        date_trunc('second', checked_at) as checked_at,
        offers,
        price(lowest) as lowest,
        cheapest_seller,
        cheapest_condition,
        offer_list,
        list_filter(
            list_transform(offer_list, lambda offer, place: {
                'price': price(offer.price),
                'seller': offer.seller,
                'place': place,
                'condition': offer.condition,
                'quantity': offer.quantity
            }),
            lambda offer: offer.price is not null
                and offer.seller is not null
                and offer.condition in ('MT', 'NM', 'EX', 'GD', 'LP', 'PL', 'PO')
        ) as usable_offers
    from raw.filtered_checks
),

repeated as (
    select day, id_product from raw.filtered_checks group by all having count(*) > 1
),

latest as (
    select * from typed anti join repeated using (day, id_product)
    union all
    select * from typed semi join repeated using (day, id_product)
    qualify row_number() over (
        partition by day, id_product
        order by
            checked_at desc,
            offers desc,
            lowest desc nulls last,
            cheapest_seller desc nulls last,
            cheapest_condition desc nulls last,
            list_transform(offer_list, lambda offer: {
                'has_price': offer.price is not null,
                'price': coalesce(price(offer.price), 0),
                'has_condition': offer.condition is not null,
                'condition': coalesce(offer.condition, ''),
                'has_quantity': offer.quantity is not null,
                'quantity': coalesce(offer.quantity, 0),
                'has_seller': offer.seller is not null,
                'seller': coalesce(offer.seller, '')
            }) desc nulls last
    ) = 1
)

select
    day,
    id_product,
    checked_at,
    offers,
    case
        when offer_list is not null then list_min(list_transform(usable_offers, lambda offer: offer.price))
        when offers > 0 then lowest
    end as lowest,
    cheapest_seller,
    cheapest_condition,
    list_sort(usable_offers) as ranked_offers,
    coalesce(len(offer_list) - len(usable_offers), 0) as dropped
from latest;
