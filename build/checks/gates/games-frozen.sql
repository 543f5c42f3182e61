-- The number of games and sets none of whose prices changed although their guide is newer, many of them changed before, and the rest
-- moves (variable one_game: the products are of a game beside others that move). This finds a part of yesterday's guide under
-- today's name. Before is the build before the live one. If its guide is further back than that of the live build is from
-- tonight's, a set that moved in between says nothing about a night; a game moves each night. Up to half of a small set, or 32
-- products of a larger one, moved on a real night and rested on the next.
with moves as (
    select
        o.game_now as game,
        o.id_expansion,
        o.guide_day - b.guide_day <= n.guide_day - o.guide_day as of_a_night,
        row(o.trend, o.low, o.avg1, o.avg7, o.avg30) is distinct from row(n.trend, n.low, n.avg1, n.avg7, n.avg30) as moved,
        coalesce(b.trend, b.low) is not null
        and row(b.trend, b.low, b.avg1, b.avg7, b.avg30) is distinct from row(o.trend, o.low, o.avg1, o.avg7, o.avg30) as moved_before
    from old_games as o
    join new_prices as n using (id_product)
    join before_prices as b using (id_product)
    where n.guide_day > o.guide_day and o.guide_day > b.guide_day and coalesce(n.trend, n.low) is not null
),

parts as (
    select 'set' as part, id_expansion::varchar as name, count(*) as products, count(*) filter (moved) as now,
        count(*) filter (moved_before) as before
    from moves
    where id_expansion is not null and of_a_night
    group by all
    union all
    select 'game', game, count(*), count(*) filter (moved), count(*) filter (moved_before)
    from moves
    group by all
),

of_all as (
    select count(*) as products, count(*) filter (moved) as now
    from moves
)

select
    count(*) filter (p.now <= 0.005 * p.products) as value,
    min({'part': part, 'name': name, 'before': before, 'products': p.products}) filter (p.now <= 0.005 * p.products) as frozen,
    list_value('price_guide') as tables,
    format('none of the {:,} products of the {} {} has another price than in the guide before; in that one {:,} had',
           frozen['products'], frozen['part'], frozen['name'], frozen['before']) as message
from parts as p, of_all as a
where enough(p.products) and before >= least(greatest(60, 0.1 * p.products), 0.7 * p.products)
    and (getvariable('one_game') or a.now - p.now > 0.1 * (a.products - p.products))
having (select count(*) from old_prices) > 0;
