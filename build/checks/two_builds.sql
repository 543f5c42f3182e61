-- The live build (old_…) and its possible successor (new_…), for checks/gates/ and checks/differences. Python makes the
-- tables <side>_prices (views/prices), <side>_sets (id, name), <side>_tables (table, rows) and <side>_build (one row:
-- as_of, guide_day). The tables of the old side are empty if no build is live.

-- A part of a whole. Parts below 3 count as none, because one product of a small lake would be a large share of it.
create macro share(part, whole) as case when part < 3 then 0.0 else part / whole end;

-- One row per product of both builds and price: the price in each build.
create view price_pairs as
select 'trend' as price, id_product, o.trend as old, n.trend as new
from old_prices as o join new_prices as n using (id_product)
union all
select 'low', id_product, o.low, n.low
from old_prices as o join new_prices as n using (id_product)
union all
select 'avg', id_product, o.avg, n.avg
from old_prices as o join new_prices as n using (id_product)
union all
select 'filtered', id_product, o.filtered, n.filtered
from old_prices as o join new_prices as n using (id_product);
