-- column_parts: the game, the set and the band of price of each product, for checks/columns. Bands are of the products of a game
-- by their trend in the live build.
create or replace temp table column_parts as
select
    id_product,
    p.game,
    coalesce(s.name, format('the set {}', id_expansion)) as set_name,
    case
        when trend is null then null
        when place < 0.5 then 'the cheaper half'
        when place < 0.8 then 'the prices from 50 to 80 %'
        when place < 0.95 then 'the prices from 80 to 95 %'
        else 'the dearest 5 %'
    end as band
from (
    select
        id_product,
        coalesce(o.game, n.game, '') as game,
        coalesce(o.id_expansion, n.id_expansion) as id_expansion,
        coalesce(o.trend, n.trend) as trend,
        percent_rank() over (partition by coalesce(o.game, n.game, ''), coalesce(o.trend, n.trend) is null
            order by coalesce(o.trend, n.trend)) as place
    from old_prices as o full join new_prices as n using (id_product)
) as p
left join new_sets as s on id_expansion = s.id;
