-- The documents of a pair of builds in both directions, one row each: from_build, to_build, the three counts, and json.
-- Variables `old_build` and `new_build` are the builds' ids, `old_day` and `new_day` their as-of days.
with directions as (
    from (values
        (getvariable('old_build'), getvariable('new_build'), getvariable('new_day'), 'added', 'removed'),
        (getvariable('new_build'), getvariable('old_build'), getvariable('old_day'), 'removed', 'added')
    ) as directions(from_build, to_build, as_of, comes, goes)
),

changed as (
    select id, to_json({'id_product': id, 'fields': list(field order by field)})::varchar as line
    from changed_fields
    group by id
),

one_sided as (
    select id, change, to_json({'id_product': id, 'name': name})::varchar as line
    from changed_cards
    join product_names using (id)
),

lists as (
    select
        (select count(*) from changed) as changed,
        (select string_agg(line, e',\n' order by id) from changed) as changed_lines
),

sides as (
    select
        change,
        count(*) as n_products,
        string_agg(id::varchar, ',' order by id) as ids,
        string_agg(line, e',\n' order by id) as lines
    from one_sided
    group by change
)

select
    from_build,
    to_build,
    coalesce(a.n_products, 0) as added,
    coalesce(r.n_products, 0) as removed,
    changed,
    concat(
        '{"from":', to_json(from_build), ',"to":', to_json(to_build), ',"as_of":', to_json(as_of),
        ',"added":[', a.ids, e'],"removed":[\n', r.lines, e'\n],"changed":[\n', changed_lines, e'\n]}\n'
    ) as json
from directions
cross join lists
left join sides as a on a.change = comes
left join sides as r on r.change = goes
order by comes;
