-- The share of products whose picture or page on the marketplace is gone, is one that hundreds share and was not before, or was the
-- one of another product alone, for the column with the most. A placeholder, or rows that slipped by one, do this.
with links as (
    select id_product, unnest([
        {'link': 'image', 'old': o.image, 'new': n.image},
        {'link': 'image_large', 'old': o.image_large, 'new': n.image_large},
        {'link': 'cardmarket_url', 'old': o.cardmarket_url, 'new': n.cardmarket_url}
    ], recursive := true)
    from old_links as o join new_links as n using (id_product)
),

shared as (
    select link, new
    from links
    where new is not null
    group by all
    having count(*) >= greatest(10, 0.02 * (select count(*) from new_links))
),

owned as (
    select link, old, any_value(id_product) as owner
    from links
    where old is not null
    group by all
    having count(*) = 1
),

judged as (
    select l.link, l.id_product,
        l.new is null or (l.new <> l.old and (s.new is not null or coalesce(o.owner <> l.id_product, false))) as wrong
    from links as l
    left join shared as s on l.link = s.link and l.new = s.new
    left join owned as o on l.link = o.link and l.new = o.old
    where l.old is not null
),

counted as (
    select link, count(*) as products, count(*) filter (wrong) as many, min(id_product) filter (wrong) as example
    from judged
    group by link
)

select
    coalesce(max(share(many, products)), 0) as value,
    arg_max({'link': link, 'many': many, 'products': products, 'example': example}, share(many, products)) as worst,
    format('{:,} of {:,} products have no {} any more, or that of others, such as id_product {}', worst['many'],
           worst['products'], worst['link'], worst['example']) as message
from counted
having (select count(*) from old_prices) > 0;
