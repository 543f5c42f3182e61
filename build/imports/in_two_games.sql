-- How many products have rows, before and in the import, that name expansions of different games, and the least of them.
with named as (
    select id_product, id_expansion from existing union all select id_product, id_expansion from incoming
), doubtful as (
    select id_product from named join games on named.id_expansion = games.id
    group by id_product having count(distinct game) > 1
)

select count(*) as products, min(id_product) as example from doubtful
