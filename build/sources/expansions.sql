-- One row per expansion (set).
create view expansions as
select id, name, fold(name) as name_folded, game, filtered_url(url) as cardmarket_url
from raw.expansions;
