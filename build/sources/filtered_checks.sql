-- The checks under the seller filter: one row per product and day, the latest of the day. Of rows with the same time,
-- the one that is greatest by all its columns; null counts as least.
--
-- `lowest` is the lowest price of the usable offers, `dropped` the number of the others.

-- The lowest price of a check: the lowest of its usable offers, or the column `lowest` if the check has no list. Null if
-- it has no offers.
create or replace macro lowest_offer(listed, lowest_usable, offers, lowest) as
    price(case when listed is not null then lowest_usable when offers > 0 then lowest end);

-- The columns of a check, from rows with the columns of check_summaries.
create or replace macro checks_of(summaries) as table
select
    * exclude (listed, usable, lowest_usable, highest_usable, longest_text) replace (
        date_trunc('second', checked_at) as checked_at,
        lowest_offer(listed, lowest_usable, offers, lowest) as lowest
    ),
    coalesce(listed - usable, 0) as dropped
from query_table(summaries);

-- What orders the rows of a product and a day, but for their lists of offers.
create or replace macro place_without_list(checked_at, offers, lowest, seller, condition) as {
    'checked_at': date_trunc('second', checked_at),
    'offers': offers,
    'has_lowest': lowest is not null,
    'lowest': coalesce(price(lowest), 0),
    'has_seller': seller is not null,
    'seller': coalesce(seller, ''),
    'has_condition': condition is not null,
    'condition': coalesce(condition, '')
};

-- The rows of products that have several on a day.
create or replace table repeated_checks as
from check_summaries semi join repeated_keys using (day, id_product);

-- Of those, the rows that come first by all columns but the list of offers.
create or replace table first_checks as
from repeated_checks
qualify rank() over (
    partition by day, id_product
    order by place_without_list(checked_at, offers, lowest, cheapest_seller, cheapest_condition) desc
) = 1;

-- The products and days whose order depends on their lists. They are on few days, and DuckDB opens the files of these days
-- only.
create or replace table days_with_lists as
select day, id_product from first_checks group by all having count(distinct (listed, usable, lowest_usable)) > 1;

set variable days_with_lists = (select list(distinct day) from days_with_lists);

-- The first of several checks with its list of offers, on these days and on each product's newest day, whose lists
-- newest_checks has.
create or replace table checks_with_lists as
with of_other_days as (
    from raw.filtered_checks
    semi join days_with_lists using (day, id_product)
    anti join newest_checks using (day, id_product)
    where list_contains(getvariable('days_with_lists'), day)
),

repeated as (
    from newest_checks semi join repeated_checks using (day, id_product)
    union all by name
    from summarised('of_other_days')
),

first_by_all_columns as (
    from repeated
    qualify row_number() over (
        partition by day, id_product
        order by
            place_without_list(checked_at, offers, lowest, cheapest_seller, cheapest_condition) desc,
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

from checks_of('first_by_all_columns');

-- One row per product and day that has several: the first.
create or replace table chosen_checks as
select * exclude (offer_list) from checks_with_lists
union all by name
select distinct * from checks_of('first_checks') anti join checks_with_lists using (day, id_product);

create or replace view filtered_checks as
with single_checks as (
    from check_summaries anti join repeated_checks using (day, id_product)
)

from checks_of('single_checks')
union all by name
from chosen_checks;
