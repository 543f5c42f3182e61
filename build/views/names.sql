-- One row per list of names: of all products (game_folded null) and of each game. `names` is the answer of /names as JSON,
-- with an entry for each different text of a base name (`spelled_names`): the spelling that most of the list's products have,
-- among equals the smallest by code point.
-- Read by the layer names.
create view names as
with spelled as (
    select game_folded, base, base_name(name) as name, count(*) as products
    from products
    inner join spelled_names using (name)
    left join expansions on products.id_expansion = expansions.id
    where base <> ''
    group by all
),

listed as (
    select null as game_folded, base, name, sum(products)::bigint as products
    from spelled
    group by base, name
    union all
    from spelled
    where game_folded is not null
),

entries as (
    select game_folded, base, name, sum(listed.products) over same_name as products
    from listed
    window same_name as (partition by game_folded, base)
    qualify row_number() over (same_name order by listed.products desc, name) = 1
),

lists as (
    select null as game_folded
    union all
    select distinct game_folded from expansions where game_folded is not null
)

select
    lists.game_folded,
    concat(
        '{"count":', count(name), e',"names":[\n',
        string_agg(to_json({'name': name, 'products': products::bigint})::varchar, e',\n' order by base)
            filter (name is not null),
        e'\n]}\n'
    ) as names
from lists
left join entries on lists.game_folded is not distinct from entries.game_folded
group by lists.game_folded;
