-- What a person decides by: for each game, and for all of them ('*'), the middle price ratio of the column of a table of prices
-- that lies farthest from 1, with how many products have it; of columns that lie about as far, the one that most products have.
-- Runs after checks/two_builds; '' stands for products without a game.
with ratios as (
    select 'price_guide' as "table", coalesce(game, '') as game, price, new::double / old as ratio
    from guide_pairs
    where old > 0 and new > 0
    union all
    select 'filtered_checks', o.game_now, 'lowest', p.new::double / p.old
    from price_pairs as p join old_games as o using (id_product)
    where p.price = 'filtered' and p.old > 0 and p.new > 0
),

middle as (
    select "table", coalesce(game, '*') as game, price, median(ratio) as ratio, count(*) as products
    from ratios
    group by grouping sets (("table", game, price), ("table", price))
    having enough(count(*))
)

select "table", game, arg_max(struct_pack(price, ratio, products), row(round(abs(ln(ratio)), 1), products, price)) as worst
from middle
group by all
order by all;
