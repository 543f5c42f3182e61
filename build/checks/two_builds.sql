-- The live build (old_…) and the one that would take its place (new_…), side by side. Python makes the tables
-- <side>_prices (views/prices), <side>_sets (id, name), <side>_tables (table, rows) and <side>_build (one row: as_of,
-- guide_day), those of the live build empty where there is none. Read by checks/gates/ and checks/differences.

-- A part of a whole; under 3 it is chance, so that one product of a small lake is no tenth of it.
create macro share(part, whole) as case when part < 3 then 0.0 else part / whole end;

create macro percent(part, whole) as format('{:.1f} %', 100.0 * part / whole);

-- One row per price of a product that both builds have.
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
