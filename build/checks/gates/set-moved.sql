-- The share of a set's products that have another set now, for the set that lost the most.
with sets as (
    select
        o.id_expansion,
        count(*) filter (n.id_expansion is distinct from o.id_expansion) as many,
        count(*) as products,
        mode(n.id_expansion) filter (n.id_expansion is distinct from o.id_expansion) as other
    from old_prices as o
    join new_prices as n using (id_product)
    where o.id_expansion is not null
    group by o.id_expansion
    having enough(count(*))
)

select
    coalesce(max(many / products), 0) as value,
    arg_max({'set': id_expansion, 'many': many, 'products': products, 'other': other}, many / products) as worst,
    format('{:,} of the {:,} products of the set {} have another set, most of them {}', worst['many'], worst['products'],
           worst['set'], coalesce(worst['other']::varchar, 'none')) as message
from sets
having (select count(*) from old_prices) > 0;
