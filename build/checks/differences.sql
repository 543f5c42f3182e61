-- One row: the counts of what the new build adds, lacks and changes, compared with the live build.
with products as (
    select
        count(*) filter (o.id_product is null) as added,
        count(*) filter (n.id_product is null) as lost
    from old_prices as o
    full join new_prices as n on o.id_product = n.id_product
),

prices as (
    select
        count(*) filter (price = 'trend' and old is distinct from new) as trends_changed,
        count(*) filter (price = 'low' and old is distinct from new) as lows_changed,
        count(*) filter (price = 'filtered' and old is distinct from new) as filtered_changed
    from price_pairs
),

sets as (
    select
        count(*) filter (o.id is null) as sets_added,
        count(*) filter (n.id is null) as sets_lost
    from old_sets as o
    full join new_sets as n on o.id = n.id
)

select added as products_added, lost as products_lost, sets_added, sets_lost, trends_changed, lows_changed, filtered_changed
from products, prices, sets;
