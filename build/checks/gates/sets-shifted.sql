-- The share of a set's prices that are those of the product before or after, or of the other finish, and not their own, for the set
-- and column of the price guide with the most. Rows that slipped by one, or columns that were swapped, do this. Prices that go to 0
-- do not count, nor do few different ones: a new lowest price of all is the same everywhere.
with neighbours as (
    select id_expansion, price, old, new,
        lag(old) over one as before,
        lead(old) over one as after,
        max(old) over (partition by id_product, replace(price, '_holo', '') order by id_product
            rows between unbounded preceding and unbounded following exclude current row) as other
    from guide_pairs
    where id_expansion is not null
    window one as (partition by id_expansion, price order by id_product)
),

counted as (
    select id_expansion, price, 'the product before' as whose, count(*) as prices, count(*) filter (new = before and new is distinct from old) as many,
        count(distinct new) filter (new = before and new is distinct from old) as different
    from neighbours
    where before is distinct from old and before is not null and new > 0
    group by all
    union all
    select id_expansion, price, 'the product after', count(*), count(*) filter (new = after and new is distinct from old),
        count(distinct new) filter (new = after and new is distinct from old)
    from neighbours
    where after is distinct from old and after is not null and new > 0
    group by all
    union all
    select id_expansion, price, 'the other finish', count(*), count(*) filter (new = other and new is distinct from old),
        count(distinct new) filter (new = other and new is distinct from old)
    from neighbours
    where other is distinct from old and other is not null and new > 0
    group by all
)

select
    coalesce(max(many / prices), 0) as value,
    arg_max({'set': id_expansion, 'price': price, 'whose': whose, 'many': many, 'prices': prices}, many / prices) as worst,
    list_value('price_guide') as tables,
    format('{:,} of the {:,} prices in {} of the set {} are those of {}', worst['many'], worst['prices'], worst['price'],
           worst['set'], worst['whose']) as message
from counted
where enough(prices) and different >= least(10, 0.3 * many)
having (select count(*) from old_prices) > 0;
