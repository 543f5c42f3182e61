-- market_prices: the rows of a table of the price guide, each with its market price and its finish: the trend, else the trend of
-- foils (holo), whichever first rounds to at least a cent; null where neither does. Movers, market, series, sorts and facets
-- know prices by it alone. The price has the type of the trend: a double of the lake, or a price as shown.
-- Read by the layers catalogue, movers, market and series.
create or replace macro market_prices(guide_rows) as table
select
    *,
    case when trend >= 0.005 then trend when trend_holo >= 0.005 then trend_holo end as market_price,
    case when trend >= 0.005 then 'normal' when trend_holo >= 0.005 then 'foil' end as finish
from query_table(guide_rows);
