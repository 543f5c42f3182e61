-- series: one row per product with a market price in the weeks of a period. `trend` has, for each week, that of the newest day
-- on which the product has one, or null, as JSON joined by commas.
-- It reads raw.price_guide, which holds the days of these weeks. The variable first_week is the Monday of the first week, weeks
-- their number. Read by the layers series-<period>.
create or replace view series as
with newest as (
    select
        id_product,
        (day - getvariable('first_week')::date) // 7 as week,
        price_double(max_by(market_price, day)) as trend
    from market_prices('raw.price_guide')
    where market_price is not null
    group by all
),

-- The weeks without a price go before the next price, and after the last one.
spaced as (
    select
        id_product,
        week,
        repeat('null,', week - 1 - lag(week, 1, -1) over (partition by id_product order by week))
        || to_json(trend)::varchar as trend
    from newest
)

select
    id_product,
    string_agg(trend, ',' order by week) || repeat(',null', getvariable('weeks') - 1 - max(week)) as trend
from spaced
group by id_product;
