-- bulk_prices: one row per product with a market price on its newest row of the price guide, as the bulk file has it.
-- It reads newest_prices (the rows of views/prices) and guide_days (the rows of the price guide on the days that its windows
-- can need). Read by the layer bulk-prices.

-- The days of a product's window, with market prices of the finish that it has now. A year's window is the longest.
create or replace table price_days as
with newest as (
    select id_product, guide_day, finish
    from market_prices('newest_prices')
    where market_price is not null
)

select
    id_product,
    newest.guide_day - days.day as age,
    days.market_price as price,
    round(days.market_price * 100)::hugeint as cents
from market_prices('guide_days') as days
join newest using (id_product, finish)
where days.day between newest.guide_day - 364 and newest.guide_day;

-- The deviation in cents is sqrt(spread) / days, for spread = days x sum of squares - square of the sum. All are integers.
create or replace macro is_at_most(cents, spread, days) as
    cents <= 0 or ((2 * cents - 1) * days) * ((2 * cents - 1) * days) <= 4 * spread;

-- The greatest integer that rounds up to at most the deviation. A double's root may be off by one where it is large.
create or replace macro deviation(spread, days) as case
    when is_at_most(floor(sqrt(spread) / days + 0.5)::hugeint + 1, spread, days)
        then floor(sqrt(spread) / days + 0.5)::hugeint + 1
    when is_at_most(floor(sqrt(spread) / days + 0.5)::hugeint, spread, days)
        then floor(sqrt(spread) / days + 0.5)::hugeint
    else floor(sqrt(spread) / days + 0.5)::hugeint - 1
end;

create or replace table bulk_prices as
with figures as (
    select
        id_product,
        max_by(price, -age) filter (age between 7 and 10) as price_7d,
        max_by(price, -age) filter (age between 30 and 33) as price_30d,
        min(price) filter (age < 30) as low_30d,
        max(price) filter (age < 30) as high_30d,
        min(price) as low_365d,
        max(price) as high_365d,
        count(*) filter (age < 30) as days,
        sum(cents) filter (age < 30) as total,
        sum(cents * cents) filter (age < 30) as squares
    from price_days
    group by id_product
)

select
    p.id_product,
    p.name,
    g.game,
    p.kind,
    p.id_expansion as set_id,
    e.name as "set",
    p.number,
    p.rarity,
    n.guide_day as day,
    n.market_price::double as price,
    n.finish,
    if(n.finish = 'foil', n.low_holo, n.low)::double as low,
    if(n.finish = 'foil', n.avg7_holo, n.avg7)::double as avg7,
    if(n.finish = 'foil', n.avg30_holo, n.avg30)::double as avg30,
    change_pct(price(n.market_price), price(price_7d)) as change_7d_pct,
    change_pct(price(n.market_price), price(price_30d)) as change_30d_pct,
    low_30d,
    high_30d,
    low_365d,
    high_365d,
    case when days >= 5 then (deviation(days * squares - total * total, days) || 'e-2')::double end as deviation_30d,
    p.cardmarket_url as url
from market_prices('newest_prices') as n
join products as p using (id_product)
join figures using (id_product)
left join expansions as e on p.id_expansion = e.id
left join game_names as g using (game_folded);

-- A spreadsheet takes a text for a formula that begins with one of these signs.
create or replace macro csv_text(x) as coalesce(
    case when regexp_matches(x, '[",\r\n]') then '"' else '' end
    || case when regexp_matches(x, '^[=+\-@\t\r]') then '''' else '' end
    || replace(x, '"', '""')
    || case when regexp_matches(x, '[",\r\n]') then '"' else '' end,
    ''
);

-- A number as JSON has it.
create or replace macro csv_number(x) as coalesce(to_json(x)::varchar, '');

create or replace view bulk_prices_lines as
select
    id_product,
    day,
    concat(
        id_product, ',',
        csv_text(name), ',',
        csv_text(game), ',',
        kind, ',',
        set_id, ',',
        csv_text("set"), ',',
        csv_text(number), ',',
        csv_text(rarity), ',',
        day, ',',
        csv_number(price), ',',
        finish, ',',
        csv_number(low), ',',
        csv_number(avg7), ',',
        csv_number(avg30), ',',
        csv_number(change_7d_pct), ',',
        csv_number(change_30d_pct), ',',
        csv_number(low_30d), ',',
        csv_number(high_30d), ',',
        csv_number(low_365d), ',',
        csv_number(high_365d), ',',
        csv_number(deviation_30d), ',',
        csv_text(url), e'\n'
    ) as line
from bulk_prices;
