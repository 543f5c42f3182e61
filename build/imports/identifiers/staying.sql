-- The rows of a file of the lake that stay. `replaced` has the schemes of which the imported files are the whole truth: of
-- set_number, which catalogues of all games share, only for the products that the catalogue itself identifies.
select * from stored
where scheme not in (from replaced)
    or (scheme = 'set_number' and id_product not in (from ours))
    or (id_product, scheme, value) in (select id_product, scheme, value from kept)
order by all
