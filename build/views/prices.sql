-- One row per product: its game, its set, the fields that rarely change, and its newest prices. Gates, diff and
-- report read them instead of the Cards.
-- Stored by the layer catalogue as a Parquet file.
create view prices as
select
    cards.id_product,
    cards.id_expansion,
    expansions.game,
    cards.kind,
    products.name,
    products.rarity,
    products.number,
    products.category,
    products.date_added,
    guide.day as guide_day,
    cards.key_trend as trend,
    cards.key_low as low,
    cards.key_avg as avg,
    guide.avg1,
    guide.avg7,
    guide.avg30,
    guide.trend_holo,
    guide.low_holo,
    guide.avg_holo,
    guide.avg1_holo,
    guide.avg7_holo,
    guide.avg30_holo,
    checks.day as filtered_day,
    cards.key_filtered as filtered,
    listings.day as listing_day,
    listings.from_price
from cards
join products using (id_product)
left join expansions on cards.id_expansion = expansions.id
left join newest_price_guide as guide using (id_product)
left join newest_filtered_checks as checks using (id_product)
left join newest_listings as listings using (id_product);
