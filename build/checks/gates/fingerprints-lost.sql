-- The share of the live build's fingerprints that are gone.
select
    share(greatest(o.rows - n.rows, 0), o.rows) as value,
    o.rows as before,
    n.rows as after,
    format('the index has {:,} fingerprints; the live one has {:,}', after, before) as message
from old_tables as o join new_tables as n using ("table")
where o."table" = 'fingerprints' and o.rows > 0 and n.rows > 0;
