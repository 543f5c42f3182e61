-- One row per product of the catalogue.
create view products as
select
    id_product,
    name,
    kind,
    category,
    id_expansion,
    rarity,
    number,
    image,
    image_large,
    filtered_url(url) as cardmarket_url,
    date_trunc('second', date_added) as date_added
from raw.products;
