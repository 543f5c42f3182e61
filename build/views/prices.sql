-- One row per product: its game, its set and its newest prices, for comparing builds and reporting on one without
-- reading their objects.
-- Kept by the layer catalogue as a Parquet file; read by the gates of a night, by the comparison of two builds and by
-- the operator's report.
create view prices as
select
    c.id_product,
    c.id_expansion,
    e.game,
    c.kind,
    g.day as guide_day,
    c.trend,
    c.low,
    c.avg,
    f.day as filtered_day,
    c.filtered,
    l.day as listing_day,
    l.from_price
from cards as c
left join expansions as e on c.id_expansion = e.id
left join newest_price_guide as g using (id_product)
left join newest_filtered_checks as f using (id_product)
left join newest_listings as l using (id_product);
