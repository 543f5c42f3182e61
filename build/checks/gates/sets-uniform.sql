-- The share of a set's prices that moved by the very same factor, for the set and column of the price guide with the most. Prices that
-- people make move by different ones. Factors within a tenth of 1 do not count, nor do sets with few different prices.
with factors as (
    select id_expansion, price, median(new::double / old::double) as factor, count(*) as prices
    from guide_pairs
    where old > 0 and new > 0 and id_expansion is not null
    group by all
    having enough(count(*)) and count(distinct old) >= 10 and abs(ln(factor)) > ln(1.1)
),

uniform as (
    select id_expansion, price, factor, prices,
        count(*) filter (abs(new - old * factor) <= greatest(0.011, 0.005 * old * factor) and abs(new - old) > 0.011) as many
    from guide_pairs join factors using (id_expansion, price)
    where old > 0 and new > 0
    group by all
)

select
    coalesce(max(many / prices), 0) as value,
    arg_max({'set': id_expansion, 'price': price, 'factor': factor, 'many': many, 'prices': prices}, many / prices) as worst,
    list_value('price_guide') as tables,
    format('{:,} of the {:,} prices in {} of the set {} are {:.3g} times what they were', worst['many'], worst['prices'],
           worst['price'], worst['set'], worst['factor']) as message
from uniform
having (select count(*) from old_prices) > 0;
