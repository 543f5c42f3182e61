-- identifier_rows: the rows with the key of each value: the first 4 bytes of its SHA-256.
-- identifier_schemes: one row per scheme, with its number of rows, and its entry of /identifiers as JSON.
-- identifiers_left_out: the rows that no answer shows. A build reports them.
-- Read by the layer identifiers.
create view identifier_rows as
select *, concat('0x', sha256(value)[:8])::uinteger as key
from identifiers;

create view identifier_schemes as
select
    scheme,
    count(*) as "rows",
    to_json({
        'scheme': scheme,
        'products': count(distinct id_product),
        'values': count(distinct value)
    })::varchar as json
from identifiers
group by scheme;

create view identifiers_left_out as
select
    'identifiers' as "table",
    'rows of unknown products left out' as reason,
    count(*) as "rows",
    min(concat('id_product ', id_product)) as example
from raw.identifiers
anti join raw.products using (id_product)
having "rows" > 0;
