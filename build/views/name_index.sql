-- One row per text of `name_texts`, by its place: the ordinals of the products whose whole, base or short name it is.
-- Read by the layer catalogue.
create view name_index as
with by_whole as (
    select whole_row as text_row, list(ordinal::uinteger order by ordinal) as whole
    from rankings
    group by all
),

by_base as (
    select base_row as text_row, list(ordinal::uinteger order by ordinal) as base
    from rankings
    where base_row > 0
    group by all
),

by_short as (
    select short_row as text_row, list(ordinal::uinteger order by ordinal) as short
    from rankings
    where short_row > 0
    group by all
)

select
    text_row,
    text,
    coalesce(by_whole.whole, []) as whole,
    coalesce(by_base.base, []) as base,
    coalesce(by_short.short, []) as short
from name_texts
left join by_whole using (text_row)
left join by_base using (text_row)
left join by_short using (text_row);
