-- The share of products whose picture or page on the marketplace is gone, or is one that hundreds share and was not before, for the
-- column with the most. A placeholder does this.
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

counted as (
    select l.link, count(*) as products, count(*) filter (l.new is null or (s.new is not null and l.new <> l.old)) as many,
        min(id_product) filter (l.new is null or (s.new is not null and l.new <> l.old)) as example
    from links as l left join shared as s on l.link = s.link and l.new = s.new
    where l.old is not null
    group by l.link
)

select
    coalesce(max(share(many, products)), 0) as value,
    arg_max({'link': link, 'many': many, 'products': products, 'example': example}, share(many, products)) as worst,
    format('{:,} of {:,} products have no {} any more, or one that many share, such as id_product {}', worst['many'],
           worst['products'], worst['link'], worst['example']) as message
from counted
having (select count(*) from old_prices) > 0;
