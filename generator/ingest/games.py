"""The game of expansions, where the marketplace's files say it: in their names, and in the categories of products."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from edge_auth.text import fold
from generator.ingest.merge import connect_tables

# The marketplace's own numbers of games, as in `price_guide_6.json`. One name for each, whatever else spells it.
GAMES = {
    1: "Magic", 2: "World of Warcraft", 3: "Yu-Gi-Oh!", 5: "The Spoils", 6: "Pokémon", 7: "Force of Will",
    8: "Cardfight!! Vanguard", 9: "Final Fantasy", 10: "Weiß Schwarz", 11: "Dragoborne", 12: "My Little Pony",
    13: "Dragon Ball Super", 15: "Star Wars: Destiny", 16: "Flesh and Blood", 17: "Digimon", 18: "One Piece",
    19: "Lorcana", 20: "Battle Spirits Saga", 21: "Star Wars: Unlimited", 22: "Riftbound",
    23: "Cyberpunk", 24: "Gundam",
}  # fmt: skip
# Other texts that categories and addresses of the marketplace have for them.
_ALIASES = {"WoW": 2, "World of Warcraft TCG": 2, "Spoils": 5, "FoW": 7, "Vanguard": 8, "Weiβ Schwarz": 10, "MLP": 12}
# Letters that look like Latin ones: Greek, Cyrillic.
_LOOK_ALIKE = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαβεικνορτυχАВЕЅІЈКМНОРСТУХаеѕіјкморсту х".replace(" ", ""),
    "ABEZHIKMNOPTYXaßeikvoptuxABESIJKMHOPCTYXaesijkmopctyx",
)
_NUMBER = re.compile(r"_([0-9]{1,3})(?=[_.])")
# Words with which the categories of sealed products go on after the game.
_SEALED = (
    "Blisters?|Boosters?|Box|Boxes|Bundles?|Coins?|Decks?|Displays?|Elite|Gift|Lots?|Packs?|Promo|Sets?|Special|Starter"
)
# The game with which the categories of most products of an expansion begin: `Digimon` of `Digimon Booster`. A game is
# one of GAMES, or what stands before `Single` in the category of a single, or else before a word of sealed products. Of
# equally many, the least.
TOLD_GAMES = f"""
WITH known AS (
    SELECT regexp_extract(category, '^(.+) Singles?$', 1) AS told FROM products WHERE kind = 'single'
    UNION SELECT unnest({[*GAMES.values(), *_ALIASES]})
),

categories AS (
    SELECT category, coalesce(
        arg_max(told, length(told)), nullif(regexp_extract(category, '^(.+?) (?:{_SEALED})\\b', 1), '')
    ) AS told
    FROM (SELECT DISTINCT category FROM products)
    LEFT JOIN known ON told <> '' AND starts_with(category, told || ' ')
    GROUP BY category
),

counted AS (
    SELECT id_expansion AS id, told, count(*) AS products
    FROM products JOIN categories USING (category) WHERE id_expansion IS NOT NULL AND told IS NOT NULL GROUP BY ALL
)

SELECT id, first(told ORDER BY products DESC, told) AS told FROM counted GROUP BY id
"""
_FILL = f"""
SELECT expansions.* REPLACE (coalesce(
    given.usual, if(files.is_firm, files.game, NULL), category.usual, files.game
) AS game)
FROM expansions LEFT JOIN ({TOLD_GAMES}) AS categories USING (id)
LEFT JOIN names AS given ON given.told = trim(expansions.game) LEFT JOIN files USING (id)
LEFT JOIN names AS category ON category.told = categories.told
ORDER BY id
"""
# How a lake names an expansion that no import has named yet. Its game is known all the same.
UNNAMED = "Expansion"
IS_UNNAMED = f"expansions.name = '{UNNAMED} ' || expansions.id"
_WITH_UNNAMED = f"""
FROM (SELECT * FROM expansions WHERE NOT ({IS_UNNAMED} AND id IN (SELECT key FROM other_files)))
UNION ALL BY NAME
SELECT DISTINCT id_expansion AS id, '{UNNAMED} ' || id_expansion AS name FROM products
WHERE id_expansion >= 0 AND id_expansion NOT IN (SELECT id FROM expansions)
    AND id_expansion NOT IN (SELECT key FROM other_files)
ORDER BY id
"""


def number_of(path: Path) -> int | None:
    """Return the marketplace's number of a game in the name of a file."""
    found = _NUMBER.search(path.name)
    return int(found[1]) if found else None


def number_of_categories(categories: Iterable[str | None]) -> int | None:
    """Return the number of the game with whose name most of these categories begin."""
    names = {_letters(name): number for number, name in (*GAMES.items(), *((n, a) for a, n in _ALIASES.items()))}
    found = Counter(
        number for category in categories for name, number in names.items() if _letters(category or "").startswith(name)
    )
    return max(found, key=lambda number: (found[number], -number)) if found else None


class GameOfFile(NamedTuple):
    """The ids of expansions in a file, and their game. A firm one counts more than what categories say."""

    ids: pa.ChunkedArray
    game: str
    is_firm: bool = False


def add_unnamed(expansions: pa.Table, products: pa.Table, other_keys: pa.ChunkedArray) -> pa.Table:
    """Add the expansions of products that no import has named, as `Expansion 5423`.

    Args:
        other_keys: Expansions that other files of the lake have. They are left out.
    """
    tables = {"expansions": expansions, "products": products, "other_files": pa.table({"key": other_keys})}
    with connect_tables(**tables) as database:
        return database.sql(_WITH_UNNAMED).to_arrow_table().cast(expansions.schema)


def fill_games(expansions: pa.Table, products: pa.Table, of_files: Iterable[GameOfFile] = ()) -> pa.Table:
    """Give each expansion without a game the one that the categories of its products say, or else its file.

    A game of the marketplace that is spelled in another way gets its usual name.

    Args:
        of_files: The games that the numbers of files tell.
    """
    files = {id_: file for file in of_files for id_ in pc.unique(file.ids).to_pylist() if id_ is not None}
    by_file = pa.table(
        {
            "id": pa.array(files, pa.int64()),
            "game": pa.array([file.game for file in files.values()], pa.string()),
            "is_firm": pa.array([file.is_firm for file in files.values()], pa.bool_()),
        }
    )
    with connect_tables(expansions=expansions, products=products, files=by_file) as database:
        told = [game for (game,) in database.sql(f"SELECT DISTINCT told FROM ({TOLD_GAMES}) ORDER BY 1").fetchall()]
        given = {name for game in expansions["game"].to_pylist() if (name := (game or "").strip())}
        usual = _usual_names(told) | {game: usual_name(game) for game in given}
        names = {"told": pa.array(usual, pa.string()), "usual": pa.array(usual.values(), pa.string())}
        database.register("names", pa.table(names))
        return database.sql(_FILL).to_arrow_table().cast(expansions.schema)


def _usual_names(told: list[str]) -> dict[str, str]:
    """Return the usual name of each game. Spellings with the same letters are one game, named by the first."""
    first: dict[str, str] = {}
    for game in told:
        first.setdefault(_letters(game), game)
    return {game: usual_name(first[_letters(game)]) for game in told}


def known_game(texts: Iterable[str]) -> str | None:
    """Return the game of the marketplace that one of these texts spells, such as a part of an address."""
    return next((game for text in texts if (game := _by_letters().get(_letters(text)))), None)


def usual_name(game: str) -> str:
    """Return the name of a game that a category spells in its own way: `Yu-Gi-Oh!` for `Yugioh`."""
    return _by_letters().get(_letters(game), game)


@cache
def _by_letters() -> dict[str, str]:
    aliases = {_letters(alias): GAMES[number] for alias, number in _ALIASES.items()}
    return aliases | {_letters(name): name for name in GAMES.values()}


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold(text.translate(_LOOK_ALIKE))))
