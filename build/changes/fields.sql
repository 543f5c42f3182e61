-- Adds to changed_fields the members of Cards that differ. `batch` holds Cards of both builds (id, old, new), variable
-- `fields` the members to compare, variable `paths` their JSON paths. Variable `mark` is the text between the members to compare
-- and the others, or null if Cards are not in this order. Most Cards are equal before it, and are not parsed.
insert into changed_fields
with differing as (
    from batch
    where coalesce(not starts_with(new, split_part(old, getvariable('mark'), 1) || getvariable('mark')), true)
),

members as (
    select id, unnest(list_zip(
        getvariable('fields'),
        json_extract(old, getvariable('paths')),
        json_extract(new, getvariable('paths'))
    )) as member
    from differing
)

select id, member[1]
from members
where member[2]::varchar is distinct from member[3]::varchar;
