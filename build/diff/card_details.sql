-- One row per card detail that is in both builds and of which a stored part differs. A detail joins the Card's line of the
-- catalogue with the objects of the history layers. If one part differs, the detail differs. If only objects of several
-- layers differ, rows may only have moved from the open month to a closed period: then `doubtful` is true. The layer
-- `cards` is the open month of an older build. Its objects hold the Card too, so each differs from that of a newer build.
create table touched_details as
with parts as (
    select
        id,
        bool_or(layer = 'catalogue') as line_differs,
        bool_or(layer = 'catalogue' and change <> 'changed') as came_or_went,
        count(*) > 1 or bool_or(layer = 'cards' and change <> 'changed') as doubtful
    from object_changes
    where layer in ('catalogue', 'cards') or layer like 'history-%'
    group by id
)

select id, doubtful and not line_differs as doubtful
from parts
semi join new_cards using (id)
where not came_or_went;
