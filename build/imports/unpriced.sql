-- The products without a row in the newest guide, and the rows of products that no list has.
select
    (select count(*) from products anti join guide using (id_product)) as unpriced,
    (select count(*) from guide anti join products using (id_product)) as unknown
