-- One row per game of an expansion: its name, which is the spelling that most expansions use, among equals the smallest
-- by code point. Spellings that are equal after folding are one game.
-- Read by views/games.sql and views/bulk_catalogue.sql.
create or replace view game_names as
select game_folded, game
from (
    select
        game_folded,
        game,
        row_number() over (partition by game_folded order by count(*) desc, game) as place
    from expansions
    where game_folded is not null
    group by game_folded, game
)
where place = 1;
