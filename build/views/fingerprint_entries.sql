-- One row per reference image: the entry as JSON. Read by the layer fingerprints.
create view fingerprint_entries as
select key, to_json({
    'key': key,
    'art_p': art_p,
    'art_d': art_d,
    'card_p': card_p,
    'colour': colour,
    'products': products
})::varchar as json
from fingerprints
order by key;
