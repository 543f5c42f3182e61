"""Withdraws what imports wrote: the rows of a day leave the lake, all of them or those of one game; or a whole game."""

from collections.abc import Collection
from datetime import date

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
)
from generator.lake.writer import LakeWriter, encode_parquet

_DAILY = {line_format.table.name: line_format.table for line_format in SCRAPED_FORMATS}
TABLES = ("price_guide", *_DAILY)
_PRODUCT = pa.schema([("id_product", pa.int64()), ("id_expansion", pa.int64())])
_EXPANSION = pa.schema([("id", pa.int64()), ("game", pa.string())])


def withdraw(lake: LakeWriter, tables: Collection[str], days: Collection[date], game: str | None) -> dict[str, int]:
    """Delete what imports wrote of these days, or of a whole game if there are none. Return the rows lost, by path."""
    with lake.locked():
        expansions = None if game is None else _expansions_of(lake, game)
        products = None if expansions is None else _products_of(lake, expansions)
        if days:
            files = [(_file(table, day), products) for day in sorted(set(days)) for table in tables]
        else:
            files = [(_file(table, day), products) for table in TABLES for day in lake.list_days(table)]
            # The catalogue comes last, so that an interrupted withdrawal still finds the game when it is repeated.
            files += [(file, products) for file in (identifiers_file(), list_pages_file(), products_file())]
            files.append((expansions_file(), expansions))
        removed = _remove(lake, files)
    if not removed:
        rows = "such rows" if days else f'rows of the game "{game}"'
        raise IngestError(f"nothing to withdraw in lake {lake.location}: no import wrote {rows}")
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
            changed[file.path] = remaining
    for path, remaining in changed.items():
        if not len(remaining):
            lake.delete(path)
    lake.write({path: encode_parquet(remaining) for path, remaining in changed.items() if len(remaining)})
    return removed


def _file(table: str, day: date) -> TableFile:
    return price_guide_file(day) if table == "price_guide" else _DAILY[table].file(day)


def _expansions_of(lake: LakeWriter, game: str) -> pa.Array:
    expansions = lake.read_all("expansions", _EXPANSION)
    folded = pa.array([fold(name or "") for name in expansions["game"].to_pylist()], pa.string())
    return expansions["id"].filter(pc.equal(folded, fold(game))).combine_chunks()


def _products_of(lake: LakeWriter, expansions: pa.Array) -> pa.Array:
    products = lake.read_all("products", _PRODUCT)
    return products["id_product"].filter(pc.is_in(products["id_expansion"], expansions)).combine_chunks()
