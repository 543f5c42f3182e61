"""Withdraws what imports wrote: the rows of a day leave the lake, all of them or those of one game; or a whole game."""

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from edge_auth.text import fold
from generator.errors import IngestError
from generator.ingest.catalogue import list_pages_file
from generator.ingest.formats import SCRAPED_FORMATS
from generator.ingest.tables import (
    TableFile,
    expansions_file,
    identifiers_file,
    price_guide_file,
    products_file,
    read_all,
)
from generator.lake.writer import LakeWriter, encode_parquet

_DAILY = {line_format.table.name: line_format.table for line_format in SCRAPED_FORMATS}
TABLES = ("price_guide", *_DAILY)
_PRODUCT = pa.schema([("id_product", pa.int64()), ("id_expansion", pa.int64())])
_EXPANSION = pa.schema([("id", pa.int64()), ("game", pa.string())])


def withdraw(lake: LakeWriter, tables: Iterable[str], days: Iterable[date], game: str | None) -> dict[str, int]:
    """Delete the rows of imports of these days. Files of other writers stay.

    Args:
        game: Only the rows of products of this game. None: all rows.

    Returns:
        How many rows left each file of the lake, by its path.
    """
    with lake.locked():
        files = [_file(table, day) for day in sorted(set(days)) for table in tables]
        products = None if game is None else _products_of(lake, _expansions_of(lake, game))
        removed = _write(lake, [_without(lake, file, products) for file in files])
    if not removed:
        raise IngestError(f"nothing to withdraw in lake {lake.location}: no import wrote such rows")
    return removed


def withdraw_game(lake: LakeWriter, game: str) -> dict[str, int]:
    """Delete all rows that imports wrote of a game: its days, products and expansions. Files of other writers stay.

    Returns:
        How many rows left each file of the lake, by its path.
    """
    with lake.locked():
        expansions = _expansions_of(lake, game)
        products = _products_of(lake, expansions)
        days = (_file(table, day) for table in TABLES for day in lake.list_days(table))
        # The catalogue comes last, so that an interrupted withdrawal still finds the game when it is repeated.
        files = (*days, identifiers_file(), list_pages_file(), products_file())
        changes = [_without(lake, file, products) for file in files]
        removed = _write(lake, [*changes, _without(lake, expansions_file(), expansions)])
    if not removed:
        raise IngestError(f'nothing to withdraw in lake {lake.location}: no import wrote rows of the game "{game}"')
    return removed


class _Change(NamedTuple):
    """The rows of a file that stay, and how many others it had."""

    path: str
    removed: int
    remaining: pa.Table


def _without(lake: LakeWriter, file: TableFile, keys: pa.Array | None) -> _Change:
    """Return a file without the rows of products or expansions; None: without any. A tracked product has no game."""
    before = file.read(lake)
    if keys is None:
        remaining = before.slice(0, 0)
    elif file.key == "slug":
        remaining = before
    else:
        remaining = before.filter(pc.invert(pc.is_in(before[file.key], keys)))
    return _Change(file.path, before.num_rows - remaining.num_rows, remaining)


def _write(lake: LakeWriter, changes: Iterable[_Change]) -> dict[str, int]:
    """Write files without the rows that leave, and return how many these are. Requires the lock of the lake."""
    changes = [change for change in changes if change.removed]
    for change in changes:
        if not len(change.remaining):
            lake.delete(change.path)
    lake.write({change.path: encode_parquet(change.remaining) for change in changes if len(change.remaining)})
    return {change.path: change.removed for change in changes}


def _file(table: str, day: date) -> TableFile:
    return price_guide_file(day) if table == "price_guide" else _DAILY[table].file(day)


def _expansions_of(lake: LakeWriter, game: str) -> pa.Array:
    """Return the ids of the expansions that have this game, folded."""
    expansions = read_all(lake, "expansions", _EXPANSION)
    folded = pa.array([fold(name or "") for name in expansions["game"].to_pylist()], pa.string())
    return expansions["id"].filter(pc.equal(folded, fold(game))).combine_chunks()


def _products_of(lake: LakeWriter, expansions: pa.Array) -> pa.Array:
    """Return the ids of the products of these expansions."""
    products = read_all(lake, "products", _PRODUCT)
    return products["id_product"].filter(pc.is_in(products["id_expansion"], expansions)).combine_chunks()
