-- The products that keys of images name, in one of five ways; the first way that finds any wins. A name that occurs in
-- several URLs of the same column (`4.png` in the folder of every set, `large.jpg` of every card) names none.
with urls as (
    select id_product, 1 as way, regexp_replace(image, '[?#].*', '') as url from products
    union all
    select id_product, 3, regexp_replace(image_large, '[?#].*', '') from products
),
path_ends as (
    select id_product, way, url, regexp_replace(string_split(url, '/')[-1], '\.[A-Za-z0-9]+$', '') as file,
        string_split(url, '/')[-2] as folder
    from urls where url is not null
),
names as (
    select id_product, way, url, lower(file) as name from path_ends
    union all
    select id_product, way + 1, url, lower(folder || '-' || file) from path_ends
    union all
    select id_product, 5, null, id_product::varchar from products
),
unique_names as (
    select name, way, list(distinct id_product order by id_product) as products
    from names where name is not null group by name, way having count(distinct url) <= 1
)
select key, arg_min(products, way) as products
from keys join unique_names on lower(key) = name
group by key order by key
