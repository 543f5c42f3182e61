-- The share of fingerprints that have other hashes or other products than in the live build, if both are of one recipe. Hashes of
-- other pictures, or one hash for all, do this.
select
    share(count(*) filter (o.entry <> n.entry), count(*)) as value,
    count(*) filter (o.entry <> n.entry) as many,
    count(*) as entries,
    format('{:,} of {:,} fingerprints have other hashes or products, such as {}', many, entries,
           min(key) filter (o.entry <> n.entry)) as message
from old_fingerprints as o
join new_fingerprints as n using (key)
having (select count(*) from old_prices) > 0;
