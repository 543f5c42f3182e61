-- One row per text of `name_texts`, by its place: the ordinals of the products whose whole, base or short name or front face it
-- is, by market price, those without one last, then by id; and what /cards/named says after a name that has this text, as JSON
-- without the opening brace. Read by the layer catalogue.
create view name_index as
with cheapest as (
    select
        whole_row,
        base_row,
        short_row,
        face_row,
        ordinal::uinteger as ordinal,
        id_product,
        if(keyed_market, (cents_market / 100)::double, null) as price,
        row_number() over (order by keyed_market desc, cents_market, id_product) as place
    from rankings
),

ways as (
    select whole_row as text_row, 1 as way, * from cheapest
    union all
    select base_row, 2, * from cheapest where base_row > 0
    union all
    select short_row, 3, * from cheapest where short_row > 0
    union all
    select face_row, 4, * from cheapest where face_row > 0
),

found as (
    select
        text_row,
        way,
        list(ordinal order by place) as ordinals,
        list(id_product order by place)[:100] as ids,
        min_by(price, place) as price
    from ways
    group by all
),

entries as (
    select
        text_row,
        substr(to_json({
            'matched': ['name', 'base', 'short', 'face'][way],
            'products': len(ordinals),
            'ids': ids,
            'cheapest': if(price is null, null, {'id_product': ids[1], 'price': price})
        })::varchar, 2) as entry
    from found
    qualify row_number() over (partition by text_row order by way) = 1
)

select
    text_row,
    text,
    coalesce(first(ordinals) filter (way = 1), []) as whole,
    coalesce(first(ordinals) filter (way = 2), []) as base,
    coalesce(first(ordinals) filter (way = 3), []) as short,
    coalesce(first(ordinals) filter (way = 4), []) as face,
    coalesce(any_value(entry), '') as entry
from name_texts
left join found using (text_row)
left join entries using (text_row)
group by text_row, text;
