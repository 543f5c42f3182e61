-- The cards and lines by whether the catalogue has one of their products.
select known, count(*), arg_min(example, (file, number))
from (
    select file, number, bool_or(products.id_product is not null) as known, min(kept.id_product) as example
    from kept left join products using (id_product)
    group by file, number
)
group by known
