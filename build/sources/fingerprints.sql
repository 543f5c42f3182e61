-- One row per reference image.
create view fingerprints as
select key, art_p, art_d, card_p, colour, products
from raw.fingerprints;
