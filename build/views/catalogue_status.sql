-- One row: the part of the status object about the catalogue and the filtered-price scrape, as JSON.
-- Stored by the layer catalogue, read by the layer status.
create view catalogue_status as
with catalogue as (
    select
        count(*) as products,
        count(*) filter (kind = 'single') as singles,
        count(*) filter (kind = 'sealed') as sealed
    from products
),

guide as (
    select max(day) as day from newest_price_guide semi join products using (id_product)
),

listing as (
    select max(scraped_at) as scraped_at from newest_listings semi join products using (id_product)
),

checks as (
    select checked_at from newest_filtered_checks semi join products using (id_product)
),

filtered as (
    select
        count(*) as checked,
        count(*) filter (checked_at >= (select max(checked_at) from checks) - interval 24 hours) as last_24h,
        max(checked_at) as latest,
        min(checked_at) as oldest
    from checks
)

select to_json({
    'catalogue': {
        'products': catalogue.products,
        'singles': catalogue.singles,
        'sealed': catalogue.sealed,
        'sets': (select count(*) from expansions),
        'price_guide_day': guide.day,
        'listing_scraped_at': time_text(listing.scraped_at)
    },
    'filtered_price': {
        'filter': seller_filter(),
        'checked': filtered.checked,
        'never_checked': catalogue.products - filtered.checked,
        'checked_last_24h': filtered.last_24h,
        'latest_checked_at': time_text(filtered.latest),
        'oldest_checked_at': time_text(filtered.oldest)
    }
})::varchar as json
from catalogue, guide, listing, filtered;
