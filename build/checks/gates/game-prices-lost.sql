-- The share of prices that became null, for the game and column of the price guide that lost the most.
with shares as (
    select
        game,
        price,
        count(*) filter (new is null) / count(*) as share,
        count(*) filter (new is null) as lost,
        count(*) as prices
    from guide_pairs
    where old is not null
    group by game, price
    having enough(count(*))
)

select
    coalesce(max(share), 0) as value,
    arg_max({'game': game, 'price': price, 'lost': lost, 'prices': prices}, share) as worst,
    format('{:,} of {:,} prices in {} of the game "{}" became null',
           worst['lost'], worst['prices'], worst['price'], worst['game']) as message
from shares
having (select count(*) from old_prices) > 0;
