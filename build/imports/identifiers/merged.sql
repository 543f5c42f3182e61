-- The rows of the file of imports: those that stay, and those that were read and that no other file has.
select id_product, scheme, value from own
union
(select id_product, scheme, value from kept except select id_product, scheme, value from others)
order by all
