-- The products that stand in both lists of one time.
select id_product from incoming group by id_product, created_at having count(distinct kind) > 1 order by id_product
