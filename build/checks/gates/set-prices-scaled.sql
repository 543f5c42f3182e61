-- How far the middle price ratio of a set and column of the price guide lies from 1, for the column that is furthest off.
-- `low` and the average of one day move too much to judge a set by them.
with ratios as (
    select
        id_expansion,
        price,
        median(new::double / old::double) as ratio,
        count(*) as prices,
        greatest(ratio, 1 / ratio) - 1 as distance
    from guide_pairs
    where old > 0 and new > 0 and id_expansion is not null and steady(price)
    group by id_expansion, price
    having enough(count(*))
)

select
    coalesce(max(distance), 0) as value,
    arg_max({'set': id_expansion, 'price': price, 'ratio': ratio, 'prices': prices}, distance) as worst,
    list_value('price_guide') as tables,
    format('half of the {:,} prices in {} of the set {} are at least {:.3g} times what they were',
           worst['prices'], worst['price'], worst['set'], worst['ratio']) as message
from ratios
having (select count(*) from old_prices) > 0;
