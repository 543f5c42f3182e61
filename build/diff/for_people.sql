-- What the summary for people shows besides the lists of the complete comparison.

-- One row per move in percent of a price that was at least `floor` euros, ranked from 1 among those of its price and
-- way. Below, a cent is a large share.
create view percent_moves as
select
    * exclude (place_percent),
    row_number() over (partition by price, way order by abs(change_pct) desc, id) as place_percent
from ranked_moves
where old >= getvariable('floor')::decimal(18, 2);

-- One row per band of moves in percent, from the largest fall to the largest rise: how many of each price moved by that much.
create view moves_by_percent as
select
    low as at_least,
    high as below,
    sum(moves) filter (price = 'trend') as trend,
    sum(moves) filter (price = 'low') as low,
    sum(moves) filter (price = 'filtered') as filtered
from distribution
where kind = 'all'
group by all
order by distribution.low nulls first;
