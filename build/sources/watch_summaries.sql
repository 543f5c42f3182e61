-- The watch checks as the lake has them, with numbers in place of their lists of offers. The lists are long, and there is
-- a file for each day: this table is the one pass over all of them. The rules of checks/watch_checks.sql.j2 and the table
-- all_watch_checks read it.

-- Checks with numbers of their lists, which are null for a check without a list. `longest_text` has the characters of the
-- longest text of an offer.
create or replace macro watch_summaries_of(checks) as table
select
    * exclude (prices),
    len(prices) as listed,
    list_min(prices) as lowest_listed,
    list_max(prices) as highest_listed,
    list_max(list_transform(offer_list, lambda offer:
        greatest(length(offer.seller), length(offer.condition), length(offer.quantity), length(offer.comment))
    )) as longest_text
from (
    select *, list_transform(offer_list, lambda offer: offer.price) as prices
    from query_table(checks)
);

create or replace table watch_summaries as
select * exclude (offer_list) from watch_summaries_of('raw.watch_checks');
