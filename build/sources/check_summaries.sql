-- The checks as the lake has them, with numbers in place of their lists of offers. The lists are long: this table is the
-- one pass over all of them. The rules of checks/filtered_checks.sql.j2 and the table filtered_checks read it. The order of
-- the rows has no meaning.

-- Checks with numbers of their lists: `listed` counts the offers of a list, `usable` those that are shown. A check without
-- a list has null. `lowest_usable` and `highest_usable` are prices of usable offers; an offer of another kind whose price
-- is none counts as one at -1, so that a rule needs no second pass over the lists. `longest_text` has the characters of the
-- longest text of an offer.
create or replace macro summarised(checks) as table
select
    * exclude (prices),
    len(offer_list) as listed,
    list_count(prices) as usable,
    list_min(prices) as lowest_usable,
    list_max(prices) as highest_usable,
    list_max(list_transform(offer_list, lambda offer:
        greatest(length(offer.condition), length(offer.seller))
    )) as longest_text
from (
    select
        *,
        list_transform(offer_list, lambda offer: case
            when is_usable(offer) then offer.price
            when offer.price < 0 or offer.price > 1e13 then -1
        end) as prices
    from query_table(checks)
);

create or replace table check_summaries as
select * exclude (offer_list) from summarised('raw.filtered_checks');
