-- One row per row of market_runs, in the order of the bulk file: its number `run`, and the name of its game. A row is a day
-- of a group. Those of a group are numbered from the oldest on.
-- Read by the layer bulk-market.
select m.run, g.game
from market_runs as m
left join expansions as e on m.id_expansion = e.id
left join game_names as g on g.game_folded = coalesce(m.game_folded, e.game_folded)
order by g.game nulls first, m.id_expansion nulls first, m.run;
