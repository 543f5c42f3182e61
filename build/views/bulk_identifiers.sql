-- One row per product, scheme and value. Read by the layer bulk-identifiers.
create view bulk_identifiers as
select id_product, scheme, value
from identifiers;
