-- One row per product of history_texts whose history, joined over the periods, is the same in both builds.
create view same_history as
with parsed as (
    select side, layer, regexp_extract(key, '([^/]*)\.json$', 1)::bigint as id, unnest(from_json(
        case when layer = 'cards' then json -> '$.history' else json end,
        '{"price_guide": ["JSON"], "filtered": ["JSON"], "listing": ["JSON"]}'
    ))
    from history_texts
),

-- ordered by name, the layers of the periods are in the order of time; `cards` holds the open month
joined as (
    select
        side,
        id,
        flatten(list(price_guide order by layer = 'cards', layer)) as price_guide,
        flatten(list(filtered order by layer = 'cards', layer)) as filtered,
        flatten(list(listing order by layer = 'cards', layer)) as listing
    from parsed
    group by all
)

select o.id
from (from joined where side = 'old') as o
join (from joined where side = 'new') as n using (id, price_guide, filtered, listing);
