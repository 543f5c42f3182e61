-- Adds to object_changes the objects of one layer (variable `layer`) that differ between old_objects and new_objects: one
-- row per key that only one of them has, or whose JSON has different hashes.
insert into object_changes
select
    getvariable('layer'),
    case when getvariable('pattern') <> '' then key::bigint end,
    logical_key(key),
    case when o.json_sha256 is null then 'added' when n.json_sha256 is null then 'removed' else 'changed' end
from old_objects as o
full join new_objects as n using (key)
where o.json_sha256 is distinct from n.json_sha256;
