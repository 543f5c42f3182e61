"""The game of expansions, where the marketplace's files say it: in their names, and in the categories of products."""

import re
from functools import cache
from pathlib import Path

import pyarrow as pa

from edge_auth.text import fold
from generator.ingest.merge import connect_tables

# The marketplace's own numbers of games, as in `price_guide_6.json`.
GAMES = {
    1: "Magic", 3: "Yu-Gi-Oh!", 6: "Pokémon", 7: "Force of Will", 8: "Vanguard", 9: "Final Fantasy",
    10: "Weiß Schwarz", 13: "Dragon Ball Super", 16: "Flesh and Blood", 17: "Digimon", 18: "One Piece", 19: "Lorcana",
    20: "Battle Spirits Saga", 21: "Star Wars: Unlimited", 22: "Riftbound",
}  # fmt: skip
_GAME_ID = re.compile(r"_([0-9]{1,3})(?=[_.])")
# The game with which the categories of most products of an expansion begin: `Digimon` of `Digimon Booster`. A game is
# one of GAMES, or what stands before `Single` in the category of a single. Of equally many, the least.
TOLD_GAMES = f"""
WITH known AS (
    SELECT regexp_extract(category, '^(.+) Singles?$', 1) AS told FROM products WHERE kind = 'single'
    UNION SELECT unnest({list(GAMES.values())})
),

categories AS (
    SELECT category, arg_max(told, length(told)) AS told
    FROM (SELECT DISTINCT category FROM products) JOIN known ON told <> '' AND starts_with(category, told || ' ')
    GROUP BY category
),

counted AS (
    SELECT id_expansion AS id, told, count(*) AS products
    FROM products JOIN categories USING (category) WHERE id_expansion IS NOT NULL GROUP BY ALL
)

SELECT id, first(told ORDER BY products DESC, told) AS told FROM counted GROUP BY id
"""
_FILL = f"""
SELECT expansions.* REPLACE (if(coalesce(trim(game), '') = '', coalesce(usual, game), game) AS game)
FROM expansions LEFT JOIN ({TOLD_GAMES}) USING (id) LEFT JOIN names USING (told)
ORDER BY id
"""


def game_of(path: Path) -> str | None:
    """Return the game whose number is in the name of a file, if it is a known one."""
    ids = (int(number) for number in _GAME_ID.findall(path.name))
    return next((GAMES[number] for number in ids if number in GAMES), None)


def fill_games(expansions: pa.Table, products: pa.Table) -> pa.Table:
    """Give each expansion without a game the one that the categories of its products say."""
    with connect_tables(expansions=expansions, products=products) as database:
        told = [game for (game,) in database.sql(f"SELECT DISTINCT told FROM ({TOLD_GAMES})").fetchall()]
        usual = pa.array(map(usual_name, told), pa.string())
        database.register("names", pa.table({"told": pa.array(told, pa.string()), "usual": usual}))
        return database.sql(_FILL).to_arrow_table().cast(expansions.schema)


def usual_name(game: str) -> str:
    """Return the name of a game that a category spells in its own way: `Yu-Gi-Oh!` for `Yugioh`."""
    return _by_letters().get(_letters(game), game)


@cache
def _by_letters() -> dict[str, str]:
    return {_letters(name): name for name in GAMES.values()}


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold(text)))
