-- One row per product, by ordinal: the texts that filters compare, under the filters' names, the prices in cents, and the
-- rank in each sort. `set` is the place of the product's expansion among known_sets by id, or the number of known_sets if
-- it has none. Read by the layer catalogue.
create view search_columns as
with places as (
    select id, row_number() over (order by id) - 1 as place from known_sets
)

select
    id_product as id,
    kind = 'single' as single,
    coalesce(place, (select count(*) from known_sets))::uinteger as "set",
    columns('^filter_(.*)$') as '\1',
    columns('^cents_'),
    columns('^rank_')::uinteger,
    whole_row::uinteger as full_name,
    base_row::uinteger as base_name
from rankings
left join places on id_expansion = id
order by ordinal;
