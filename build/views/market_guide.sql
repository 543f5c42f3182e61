-- The rows of the price guide in guide_rows as the chain of the market reads them: the market price, negative for foils, and the
-- low price of the same finish. The order is that of guide_rows.
-- Read by the layers market.
select
    id_product,
    day,
    if(finish = 'foil', -market_price, market_price) as market,
    if(finish = 'foil', low_holo, low) as low
from market_prices('guide_rows');
