-- One row per product that is in one of two builds only, or whose hash differs. old_index and new_index hold the hashes
-- of both builds' Cards before their prices or, if a build does not have these, of the whole Cards.
create table products as
select
    key as id,
    case when o.json_sha256 is null then 'added' when n.json_sha256 is null then 'removed' else 'changed' end as change
from old_index as o
full join new_index as n using (key)
where o.json_sha256 is distinct from n.json_sha256;

-- One row per product that is in one build only: its name.
create table product_names (id bigint, name varchar);

-- One row per product and member of its Card that differ.
create table changed_fields (id bigint, field varchar);
