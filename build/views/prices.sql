-- One row per product: its set and its newest prices, for comparing builds without reading their objects.
-- Kept by the layer catalogue as a Parquet file; read by the gates of a night and by the comparison of two builds.
create view prices as
select
    c.id_product,
    c.id_expansion,
    c.kind,
    g.day as guide_day,
    c.trend,
    c.low,
    c.avg,
    f.day as filtered_day,
    c.filtered
from cards as c
left join newest_price_guide as g using (id_product)
left join newest_filtered_checks as f using (id_product);
