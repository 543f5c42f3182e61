-- One row per object of side_index, in the order in which the packs hold them, with what it takes to read it. `key` is
-- null but for those that are `wanted`: named in the table of that name.
create or replace temporary view members as
select pack, "offset", length, json_size, w.key as key, w.key is not null as wanted
from side_index as i
left join wanted as w on w.key = logical_key(i.key)
order by pack, "offset";
