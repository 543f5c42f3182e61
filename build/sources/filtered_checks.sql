-- The re-checks under the seller filter: one row per product and day, the latest of the day. At equal times the row
-- that is greatest by all its columns, null least. Only products that repeat within a day are sorted.
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
        offer_list
    from raw.filtered_checks
),

repeated as (
    select day, id_product from raw.filtered_checks group by all having count(*) > 1
)

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
) = 1;

-- The offers of a check that can be shown; null where it kept no list.
create macro usable_offers(offer_list) as list_filter(
    offer_list,
    lambda offer: offer.price is not null
        and offer.seller is not null
        and offer.condition in ('MT', 'NM', 'EX', 'GD', 'LP', 'PL', 'PO')
);

-- The same, cheapest first: by price, seller (code points), place in the list.
create macro ranked_offers(offer_list) as list_sort(
    list_transform(usable_offers(offer_list), lambda offer, place: {
        'price': price(offer.price),
        'seller': offer.seller,
        'place': place,
        'condition': offer.condition,
        'quantity': offer.quantity
    })
);

-- The lowest price of a check: of its usable offers where it kept a list, else as it says; null without any offer.
create macro lowest_offer(usable, offers, lowest) as case
    when usable is not null then price(list_min(list_transform(usable, lambda offer: offer.price)))
    when offers > 0 then lowest
end;
