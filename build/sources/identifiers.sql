-- One row per product, scheme and value: the ids that other catalogues have for the products. Equal rows count once, and
-- rows of unknown products are left out.
create view identifiers as
select distinct id_product, scheme, value
from raw.identifiers
semi join raw.products using (id_product);
