-- The products, with the collector numbers that stand in the names of chosen singles without one.
select * replace (
    case when number is null and kind = 'single' and id_product in (from chosen)
    then nullif(regexp_extract(name, $pattern, 1), '') else number end as number
)
from products order by id_product
