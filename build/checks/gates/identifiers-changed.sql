-- The share of products with ids of another catalogue that have none of their ids of the live build any more, but others, for the
-- catalogue (scheme) with the most. Ids that are shifted by a product, or all the same, do this.
with old as (
    select scheme, id_product, list(distinct value) as before
    from old_identifiers
    group by all
),

new as (
    select scheme, id_product, list(distinct value) as after
    from new_identifiers
    group by all
),

changed as (
    select scheme, count(*) as products, count(*) filter (not list_has_any(before, after)) as many, min(id_product)
        filter (not list_has_any(before, after)) as example
    from old join new using (scheme, id_product)
    group by scheme
)

select
    share(many, products) as value,
    scheme,
    many,
    products,
    format('{:,} of {:,} products have other ids of {}, such as id_product {}', many, products, scheme, example) as message
from changed
order by value desc, scheme
limit 1;
