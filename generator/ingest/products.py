"""Products and expansions: the marketplace's rows, the values of list pages, and the games.

The marketplace's own files have no number, rarity, URL or image. `list_pages.parquet` stores the values of pages: one
row per product and distinct set of values, with the newest time at which a page had them. Every import copies the
values from there, so a page may be imported before the product list. The names of the marketplace's files and the
categories of products say the game of an expansion. `withdraw` takes what
imports wrote out of the lake again: the rows of a day, all of them or those of one game; or a whole game.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from datetime import date
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from generator.errors import IngestError
from generator.ingest.formats import ABOUT_PRODUCT, LIST_PAGES, SCRAPED_FORMATS
from generator.ingest.pipeline import FileChange
from generator.ingest.table_files import (
    EXPANSIONS_FILE,
    IDENTIFIERS_FILE,
    PRODUCTS_FILE,
    TableFile,
    TableUpdate,
    price_guide_file,
    select,
)
from generator.lake.lake import DAILY_TABLES, PAGES_TABLE
from generator.lake.table_writer import NOTHING, LakeWriter, encode_parquet, with_columns
from generator.storage.text import fold

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
UNNAMED = "Expansion"  # how a lake names an expansion that no import has named yet: `Expansion 5423`
# By daily table: its file of a day.
_DAY_FILES = {"price_guide": price_guide_file} | {scraped.table.name: scraped.table.file for scraped in SCRAPED_FORMATS}
_PRODUCT = pa.schema([("id_product", pa.int64()), ("id_expansion", pa.int64())])
_EXPANSION = pa.schema([("id", pa.int64()), ("game", pa.string())])
_OF_PRODUCTS = tuple(ABOUT_PRODUCT)
_OF_PAGES = ("id_expansion", *_OF_PRODUCTS, "expansion", "expansion_url")


class GameOfFile(NamedTuple):
    """The ids of expansions in a file, and their game. A firm one counts more than what categories say."""

    ids: pa.ChunkedArray
    game: str
    is_firm: bool = False


_PAGES = pa.schema([LIST_PAGES.schema.field(name) for name in ("id_product", *_OF_PAGES, "scraped_at")])
LIST_PAGES_FILE = TableFile(f"{PAGES_TABLE}.parquet", PAGES_TABLE, "id_product", _PAGES)


class CatalogueUpdate:
    """Products and expansions before and after an import of rows of them."""

    def __init__(
        self, lake: LakeWriter, products: Iterable[pa.Table] = (), expansions: Iterable[pa.Table] = ()
    ) -> None:
        self.products = TableUpdate(lake, PRODUCTS_FILE, products)
        self.expansions = TableUpdate(lake, EXPANSIONS_FILE, expansions)
        self._stored = LIST_PAGES_FILE.read(lake)
        self._pages = self._stored

    def add_pages(self, rows: pa.Table) -> None:
        """Add values to those that the lake stores of list pages. Columns that the rows lack are null."""
        schema, values = LIST_PAGES_FILE.schema, {"values": _OF_PAGES}
        incoming = with_columns(rows, schema)
        self._pages = select("merge_pages", values, existing=self._stored, incoming=incoming).cast(schema)
        self.products.incoming = incoming.select(["id_product"])  # to count the products that other files have

    def complete(self, of_files: Iterable[GameOfFile] = ()) -> None:
        """Add the values of list pages to both tables, and to the expansions those without a name, and their games."""
        products, expansions = self.products, self.expansions
        if len(self._pages):
            latest = select("latest_pages", {"values": _OF_PAGES}, pages=self._pages)
            products.replace_by("products_of_pages", {"values": _OF_PRODUCTS}, products=products.after, latest=latest)
            columns = {"columns": tuple(expansions.before.schema.names)}
            tables = {"expansions": expansions.after, "products": products.after, "latest": latest}
            expansions.replace_by("expansions_of_pages", columns, **tables, other_files=expansions.other_keys)
        tables = {"expansions": expansions.after, "products": products.after}
        expansions.replace_by("with_unnamed", **tables, other_files=expansions.other_keys)
        if len(expansions.after):
            _fill_games(expansions, products.after, of_files)

    def older_lines(self, lines: pa.Table) -> int:
        """Return of how many products these lines, which were added, have values that newer ones of the lake hide."""
        values = {"values": tuple(name for name in _OF_PAGES if name in lines.schema.names)}
        latest = select("latest_pages", {"values": _OF_PAGES}, pages=self._pages)
        return int(select("older_lines", values, lines=lines, latest=latest)["products"][0].as_py())

    def pages_change(self) -> FileChange:
        """Return the file of stored values."""
        is_same = self._pages.equals(self._stored)
        return FileChange(LIST_PAGES_FILE.path, None, None if is_same else encode_parquet(self._pages))


def number_of(path: Path) -> int | None:
    """Return the marketplace's number of a game in the name of a file."""
    found = _NUMBER.search(path.name)
    return int(found[1]) if found else None


def number_of_categories(categories: Iterable[str | None]) -> int | None:
    """Return the number of the game with whose name most of these categories begin."""
    texts = [_letters(category or "") for category in categories]
    found = Counter(number for name, number in _numbers().items() for text in texts if text.startswith(name))
    return max(found, key=lambda number: (found[number], -number)) if found else None


def known_games() -> pa.Table:
    """Return the names of games with which the categories of the marketplace begin."""
    return pa.table({"told": [*GAMES.values(), *_ALIASES]})


def _fill_games(update: TableUpdate, products: pa.Table, of_files: Iterable[GameOfFile]) -> None:
    """Give expansions without a game that of their products' categories or else their file, under its usual name."""
    files = {id_: file for file in of_files for id_ in pc.unique(file.ids).to_pylist() if id_ is not None}
    by_file = pa.table(
        {
            "id": pa.array(files, pa.int64()),
            "game": pa.array([file.game for file in files.values()], pa.string()),
            "is_firm": pa.array([file.is_firm for file in files.values()], pa.bool_()),
        }
    )
    games = known_games()
    told = sorted(set(select("told_games", products=products, games=games)["told"].to_pylist()))
    given = {name for game in update.after["game"].to_pylist() if (name := (game or "").strip())}
    first: dict[str, str] = {}  # spellings with the same letters are one game, named by the first
    usual = {game: usual_name(first.setdefault(_letters(game), game)) for game in told}
    usual |= {game: usual_name(game) for game in given}
    names = pa.table({"told": pa.array(usual, pa.string()), "usual": pa.array(usual.values(), pa.string())})
    tables = {"expansions": update.after, "products": products, "files": by_file}
    update.replace_by("fill_games", **tables, games=games, names=names)


def known_game(texts: Iterable[str]) -> str | None:
    """Return the game of the marketplace that one of these texts spells, such as a part of an address."""
    return next((GAMES[number] for text in texts if (number := _numbers().get(_letters(text)))), None)


def usual_name(game: str) -> str:
    """Return the name of a game that a category spells in its own way: `Yu-Gi-Oh!` for `Yugioh`."""
    return GAMES.get(_numbers().get(_letters(game), 0), game)


@cache
def _numbers() -> dict[str, int]:
    """Return the numbers of games by the letters of their names."""
    return {_letters(name): number for name, number in (_ALIASES | {n: number for number, n in GAMES.items()}).items()}


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold(text.translate(_LOOK_ALIKE))))


def withdraw(lake: LakeWriter, tables: Collection[str], days: Collection[date], game: str | None) -> dict[str, int]:
    """Delete what imports wrote of these days, or of a whole game if there are none. Return the rows lost, by path."""
    with lake.locked():
        expansions = products = None
        if game is not None:
            rows = lake.read_all("expansions", _EXPANSION)
            is_chosen = [fold(name or "") == fold(game) for name in rows["game"].to_pylist()]
            expansions = rows["id"].filter(pa.array(is_chosen, pa.bool_())).combine_chunks()
            rows = lake.read_all("products", _PRODUCT)
            products = rows["id_product"].filter(pc.is_in(rows["id_expansion"], expansions)).combine_chunks()
        if days:
            files = [(_DAY_FILES[table](day), products) for day in sorted(set(days)) for table in tables]
        else:
            files = [(_DAY_FILES[table](day), products) for table in DAILY_TABLES for day in lake.list_days(table)]
            # In a bucket the catalogue changes last: an interrupted withdrawal finds the game when it is repeated.
            files += [(file, products) for file in (IDENTIFIERS_FILE, LIST_PAGES_FILE, PRODUCTS_FILE)]
            files.append((EXPANSIONS_FILE, expansions))
        removed = _remove(lake, files)
    if not removed:
        which = "such rows" if days else f'rows of the game "{game}"'
        raise IngestError(f"nothing to withdraw in lake {lake.location}: no import wrote {which}")
    return removed


def _remove(lake: LakeWriter, files: list[tuple[TableFile, pa.Array | None]]) -> dict[str, int]:
    removed, changed = {}, {}
    for file, keys in files:
        before = file.read(lake)
        if keys is None:
            remaining = before.slice(0, 0)
        elif file.key == "slug":  # a tracked product has no game
            continue
        else:
            remaining = before.filter(pc.invert(pc.is_in(before[file.key], keys)))
        if len(remaining) < len(before):
            removed[file.path] = len(before) - len(remaining)
            changed[file.path] = encode_parquet(remaining) if len(remaining) else NOTHING
    lake.write(changed)
    return removed
