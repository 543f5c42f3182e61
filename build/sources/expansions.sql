-- One row per expansion (set). A game whose folded name is empty counts as none.
create view expansions as
select
    id,
    name,
    fold(name) as set_name_folded,
    game,
    nullif(fold(game), '') as game_folded,
    filtered_url(url) as cardmarket_url
from raw.expansions;
