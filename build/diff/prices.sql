-- One row per product and price (trend, low, filtered: the lowest under the seller filter) that changed: both values
-- in euros, null where there was none; the move between them, null where one is; and which `way` it went.
create table prices as
select
    price_name(field) as price,
    id,
    old::decimal(18, 2) as old,
    new::decimal(18, 2) as new,
    (new::decimal(18, 2) - old::decimal(18, 2))::decimal(18, 2) as change,
    change_pct(new::decimal(18, 2), old::decimal(18, 2)) as change_pct,
    case when old is null then 'appeared' when new is null then 'went' when change > 0 then 'up' else 'down' end as way
from field_changes
where resource = 'products' and price_name(field) is not null;

-- One row per price and kind of product, and per price for `all`: how many went which way.
create view price_counts as
with kinds as (
    select unnest(kinds()) as kind
),

names as (
    select unnest(price_names()) as price
),

counted as (
    select
        price,
        coalesce(kind, 'all') as kind,
        count(*) filter (way = 'up') as up,
        count(*) filter (way = 'down') as down,
        count(*) filter (way = 'appeared') as appeared,
        count(*) filter (way = 'went') as went
    from prices
    join products using (id)
    group by grouping sets ((price), (price, kind))
)

select
    price,
    kind,
    coalesce(up, 0) as up,
    coalesce(down, 0) as down,
    coalesce(appeared, 0) as appeared,
    coalesce(went, 0) as went
from names
cross join kinds
left join counted using (price, kind)
order by price_place(price), kind_place(kind);

-- One row per move of a price, ranked from 1 among those of its price and way: by euros and by percent (null for a
-- move from 0).
create view ranked_moves as
select
    m.*,
    name,
    kind,
    set_id,
    set_name,
    url,
    row_number() over (partition by price, way order by abs(change) desc, id) as place_euros,
    case when change_pct is not null then
        row_number() over (partition by price, way order by abs(change_pct) desc nulls last, id)
    end as place_percent
from prices as m
join products using (id)
where way in ('up', 'down');

-- One row per price that appeared or went, ranked from 1 among those of its price and way, the highest price first.
create view ranked_nulls as
select
    m.*,
    name,
    kind,
    set_id,
    set_name,
    url,
    row_number() over (partition by price, way order by coalesce(new, old) desc, id) as place
from prices as m
join products using (id)
where way in ('appeared', 'went');
