-- One row per expansion that the filter `set` knows: those of the lake's table, and those that products belong to.
-- Read by the layer catalogue.
create view known_sets as
select id, name, game_folded
from expansions
union all
select distinct id_expansion, null, null
from products
where id_expansion is not null and id_expansion not in (select id from expansions);
