-- Adds to changed_fields the members of Cards that differ. `batch` holds Cards of both builds (id, old, new), variable
-- `fields` the members to compare, variable `paths` their JSON paths.
insert into changed_fields
with members as (
    select id, unnest(list_zip(
        getvariable('fields'),
        json_extract(old, getvariable('paths')),
        json_extract(new, getvariable('paths'))
    )) as member
    from batch
)

select id, member[1]
from members
where member[2]::varchar is distinct from member[3]::varchar;
