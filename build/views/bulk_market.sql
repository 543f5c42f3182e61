-- One row per group of the market and day, as the bulk file has them, of market_days.
-- Read by the layer bulk-market.
create or replace view bulk_market as
select
    m.id_expansion,
    g.game,
    m.day,
    m.value,
    m.priced,
    m.value_low,
    m.priced_low,
    m."index"
from market_days as m
left join expansions as e on m.id_expansion = e.id
left join game_names as g on g.game_folded = coalesce(m.game_folded, e.game_folded);
