-- One row per game and day: its singles with a price, and its index. It reads market_days.
-- Kept by the layer market for gates and reports.
select game_folded, game, day, priced, "index"
from market_days
join game_names using (game_folded)
where id_expansion is null
order by game_folded, day;
