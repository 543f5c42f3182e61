-- One row per product with a doubtful card detail whose history, joined over the periods, is the same in both builds.
create view same_history as
with parsed as (
    select side, layer, regexp_extract(key, '([^/]*)\.json$', 1)::bigint as id, unnest(from_json(
        case when layer = 'cards' then json -> '$.history' else json end,
        '{"price_guide": ["JSON"], "filtered": ["JSON"], "listing": ["JSON"]}'
    ))
    from history_texts
),

sides as (
    select id, unnest(['old', 'new']) as side
    from touched_details
    where doubtful
),

-- ordered by name, the layers of the periods are in the order of time; `cards` is the open month of an older build
joined as (
    select
        side,
        id,
        coalesce(flatten(list(price_guide order by layer = 'cards', layer)), []) as price_guide,
        coalesce(flatten(list(filtered order by layer = 'cards', layer)), []) as filtered,
        coalesce(flatten(list(listing order by layer = 'cards', layer)), []) as listing
    from sides
    left join parsed using (side, id)
    group by all
)

select o.id
from (from joined where side = 'old') as o
join (from joined where side = 'new') as n using (id, price_guide, filtered, listing);
