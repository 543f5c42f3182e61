-- extremes: one row per product with a market price: the lowest and the highest in cents, each with the newest day that has it.
-- It reads raw.price_guide, which holds the days of a period, and extremes_before, the rows of earlier periods.
-- Read by the layers extremes-<period>.
with prices as (
    select id_product, day, round(price_double(market_price) * 100)::bigint as cents
    from market_prices('raw.price_guide')
    where market_price < 1e14
    union all
    select id_product, unnest([low_day, high_day]) as day, unnest([low, high]) as cents
    from extremes_before
),

found as (
    select id_product, max({'cents': -cents, 'day': day}) as low, max({'cents': cents, 'day': day}) as high
    from prices
    group by id_product
)

select id_product, -low.cents as low, low.day as low_day, high.cents as high, high.day as high_day
from found
order by id_product;
