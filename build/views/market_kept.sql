-- The rows of market_days that later periods need: all days of the games, for their indexes, and of each set those that changes
-- to its newest day can need (market_rows).
-- Read by the layers market.
select *
from market_days
qualify id_expansion is null or day >= max(day) over (partition by id_expansion) - 33
order by game_folded nulls first, id_expansion nulls first, day;
