-- URLs of products and expansions that no answer shows, one row per table. A build reports them.
-- Stored by the layer catalogue.
create view urls_left_out as
with tables as (
    select 'products' as "table", unnest(urls_left_out(filtered_url(url), url, concat('id_product ', id_product)))
    from raw.products
    union all
    select 'expansions', unnest(urls_left_out(filtered_url(url), url, concat('id ', id)))
    from raw.expansions
)

select "table", reason, "rows", example
from tables
where "rows" > 0
order by "table";
