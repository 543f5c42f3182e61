-- The rows of the expansions' list pages: one row per product and day, the latest of the day. Of rows with the same
-- time, the one that is greatest by all its columns; null counts as least. Only repeated products are sorted.
create or replace table repeated_listings as
select day, id_product from raw.listings group by all having count(*) > 1;

create or replace view listings as
with typed as (
    select
        day,
        id_product,
        date_trunc('second', scraped_at) as scraped_at,
        available,
        price(from_price) as from_price,
        available_foil,
        price(from_price_foil) as from_price_foil
    from raw.listings
)

select * from typed anti join repeated_listings using (day, id_product)
union all
select * from typed semi join repeated_listings using (day, id_product)
qualify row_number() over (
    partition by day, id_product
    order by
        scraped_at desc,
        available desc nulls last,
        from_price desc nulls last,
        available_foil desc nulls last,
        from_price_foil desc nulls last
) = 1;
