-- Adds to field_changes the fields of one resource (variable `resource`) that differ. Variable `fields` lists the
-- fields, variable `paths` their JSON paths.
insert into field_changes
with compared as (
    select resource, id, key, unnest(list_zip(
        range(len(getvariable('fields'))),
        getvariable('fields'),
        json_extract(old, getvariable('paths')),
        json_extract(new, getvariable('paths'))
    )) as field
    from items
    where change = 'changed' and resource = getvariable('resource')
),

texts as (
    select
        resource,
        id,
        key,
        field[1] as place,
        field[2] as field,
        nullif(field[3]::varchar, 'null') as old,
        nullif(field[4]::varchar, 'null') as new
    from compared
)

from texts
where old is distinct from new;
