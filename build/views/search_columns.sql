-- One row per product, by ordinal: what filters compare and sorts rank. `set` is the place of the product's
-- expansion among known_sets by id; their number where it has none. Read by the layer catalogue.
create view search_columns as
with places as (
    select id, row_number() over (order by id) - 1 as place from known_sets
)

select
    id_product as id,
    kind = 'single' as single,
    coalesce(place, (select count(*) from known_sets))::uinteger as "set",
    rarity,
    number,
    rank_trend::uinteger as rank_trend,
    rank_low::uinteger as rank_low,
    rank_avg::uinteger as rank_avg,
    rank_filtered::uinteger as rank_filtered,
    rank_name::uinteger as rank_name,
    rank_number::uinteger as rank_number,
    rank_newest::uinteger as rank_newest
from rankings
left join places on id_expansion = id
order by ordinal;
