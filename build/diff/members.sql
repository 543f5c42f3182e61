-- One row per object of side_index, in the order of the packs: where it lies, and its `key`. `key` is null unless the
-- table `wanted` names the object.
create or replace temporary view members as
select pack, "offset", length, json_size, w.key as key, w.key is not null as wanted
from side_index as i
left join wanted as w on w.key = logical_key(i.key)
order by pack, "offset";
