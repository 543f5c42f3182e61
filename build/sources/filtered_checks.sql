-- Whether an offer has a price, a seller and a known condition. Only such offers are shown.
create macro is_usable(offer) as
    offer.price is not null
    and offer.seller is not null
    and offer.condition in ('MT', 'NM', 'EX', 'GD', 'LP', 'PL', 'PO');

-- The prices of a check's offers, null for offers that are not usable. Null if the check has no list of offers.
create macro usable_prices(offer_list) as list_transform(
    offer_list,
    lambda offer: case when is_usable(offer) then offer.price end
);

-- The usable offers, cheapest first: by price, seller (code points), place in the list.
create macro ranked_offers(offer_list) as list_sort(
    list_transform(list_filter(offer_list, lambda offer: is_usable(offer)), lambda offer, place: {
        'price': price(offer.price),
        'seller': offer.seller,
        'place': place,
        'condition': offer.condition,
        'quantity': offer.quantity
    })
);

-- The lowest price of a check: the lowest of its usable offers, or the column `lowest` if the check has no list. Null
-- if it has no offers.
create macro lowest_offer(usable_prices, offers, lowest) as
    price(case when usable_prices is not null then list_min(usable_prices) when offers > 0 then lowest end);

-- The checks under the seller filter: one row per product and day, the latest of the day. Of rows with the same time,
-- the one that is greatest by all its columns; null counts as least.
--
-- `lowest` is the lowest price of the usable offers, `dropped` the number of the others. `lowest_column` is the lake's
-- own column, by which rows with the same time are ordered. The lists of offers are long. So they are read in one pass,
-- and stored only for each product's newest day and for repeated checks.
create view filtered_checks as
with repeated as (
    select day, id_product from raw.filtered_checks group by all having count(*) > 1
),

newest as (
    select max(day) as day, id_product from raw.filtered_checks group by id_product
),

with_list as (
    select day, id_product, bool_or(repeats) as repeats
    from (select *, true as repeats from repeated union all select *, false from newest)
    group by all
),

typed as materialized (
    select
        day,
        id_product,
        date_trunc('second', checked_at) as checked_at,
        offers,
        lowest_offer(prices, offers, lowest) as lowest,
        coalesce(len(prices) - list_count(prices), 0) as dropped,
        price(lowest) as lowest_column,
        coalesce(repeats, false) as repeats,
        case when repeats is not null then cheapest_seller end as cheapest_seller,
        case when repeats is not null then cheapest_condition end as cheapest_condition,
        case when repeats is not null then offer_list end as offer_list
    from (select *, usable_prices(offer_list) as prices from raw.filtered_checks)
    left join with_list using (day, id_product)
)

select * exclude (repeats, lowest_column) from (
    select * from typed where not repeats
    union all
    select * from typed where repeats
    qualify row_number() over (
        partition by day, id_product
        order by
            checked_at desc,
            offers desc,
            lowest_column desc nulls last,
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
);
