-- One row: the counts of the products and sets that the new build adds, lacks and changes, compared with the old one. Python
-- makes <side>_prices and <side>_sets (generator/compare/comparison), and counts days, movers and bulk files.
with pairs as (
    select
        o.id_product is null as added,
        n.id_product is null as lost,
        o.trend is distinct from n.trend as trend,
        o.low is distinct from n.low as low,
        row(o.avg, o.avg1, o.avg7, o.avg30) is distinct from row(n.avg, n.avg1, n.avg7, n.avg30) as averages,
        row(o.low_holo, o.avg_holo, o.trend_holo, o.avg1_holo, o.avg7_holo, o.avg30_holo)
        is distinct from row(n.low_holo, n.avg_holo, n.trend_holo, n.avg1_holo, n.avg7_holo, n.avg30_holo) as foil,
        o.filtered is distinct from n.filtered as filtered,
        o.kind is distinct from n.kind as kind,
        row(o.name, o.id_expansion, o.game, o.category, o.rarity, o.number, o.date_added)
        is distinct from row(n.name, n.id_expansion, n.game, n.category, n.rarity, n.number, n.date_added) as texts
    from old_prices as o
    full join new_prices as n on o.id_product = n.id_product
),

products as (
    select
        count(*) filter (added) as products_added,
        count(*) filter (lost) as products_lost,
        count(*) filter (in_both and (trend or low or averages or foil or filtered or kind or texts)) as products_changed,
        count(*) filter (in_both and kind) as kinds_changed,
        count(*) filter (in_both and texts) as texts_changed,
        count(*) filter (in_both and trend) as trends_changed,
        count(*) filter (in_both and low) as lows_changed,
        count(*) filter (in_both and averages) as averages_changed,
        count(*) filter (in_both and foil) as foil_prices_changed,
        count(*) filter (in_both and filtered) as filtered_changed
    from (select *, not added and not lost as in_both from pairs)
),

sets as (
    select
        count(*) filter (o.id is null) as sets_added,
        count(*) filter (n.id is null) as sets_lost
    -- a set that no expansion names is none on any list
    from (select id from old_sets where name is not null) as o
    full join (select id from new_sets where name is not null) as n on o.id = n.id
)

select
    products_added,
    products_lost,
    sets_added,
    sets_lost,
    products_changed,
    kinds_changed,
    texts_changed,
    trends_changed,
    lows_changed,
    averages_changed,
    foil_prices_changed,
    filtered_changed
from products, sets;
