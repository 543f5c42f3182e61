-- One row per run of market_runs, in the order of the bulk file: the place of the run, and the name of its game. Runs are the
-- days of a group in a layer of the market, numbered by `run` from the oldest layer on.
-- Read by the layer bulk-market.
select m.run, g.game
from market_runs as m
left join expansions as e on m.id_expansion = e.id
left join game_names as g on g.game_folded = coalesce(m.game_folded, e.game_folded)
order by g.game nulls first, m.id_expansion nulls first, m.run;
