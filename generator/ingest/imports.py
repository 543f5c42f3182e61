"""One import from first to last: read every file, merge under the lake's lock, then write.

Nothing is written before every file was read and checked, nor before every table was merged. A crash while
writing leaves whole tables, some old and some new, and the same import again finishes the work.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from generator.ingest.cardmarket import read_expansions, read_price_guide, read_products
from generator.ingest.merge import Counts, count, merge
from generator.ingest.tables import EXPANSIONS, PRODUCTS, Lake, LakeTable, decode, encode, price_guide


@dataclass(frozen=True)
class CardmarketFiles:
    """The files of one import, each kind in any order."""

    singles: tuple[Path, ...] = ()
    nonsingles: tuple[Path, ...] = ()
    expansions: tuple[Path, ...] = ()
    price_guides: tuple[Path, ...] = ()

    def __len__(self) -> int:
        return len(self.singles) + len(self.nonsingles) + len(self.expansions) + len(self.price_guides)


class Change(NamedTuple):
    """A table after the merge; `data` is its new file, or None where nothing changed."""

    table: LakeTable
    counts: Counts
    data: pa.Buffer | None


@dataclass
class Sheets:
    """What the files say, per lake table, as Parquet bytes: a year of guides has to fit in memory."""

    read: Callable[[Path], None]  # told of each file that was read
    of: dict[LakeTable, list[pa.Buffer]] = field(default_factory=dict)

    def add(self, path: Path, table: LakeTable, rows: pa.Table) -> None:
        self.of.setdefault(table, []).append(encode(rows))
        self.read(path)


def import_cardmarket(
    lake: Lake, files: CardmarketFiles, game: str | None, read: Callable[[Path], None]
) -> dict[str, Counts]:
    """Bring the lake up to what the files say; says for each table, by its file's name, what changed.

    Args:
        game: the game of the expansions in the files, if the operator named one.
        read: called with each file once it was read.

    Raises:
        IngestError: a file or a lake table cannot be read, and nothing was written; or writing failed.
    """
    sheets = _read(files, read)
    with lake.locked():
        changes = [_merged(lake, table, sheets.of[table], game) for table in sheets.of]
        for change in changes:
            if change.data is not None:
                lake.write(change.table.name, change.data)
    return {change.table.name: change.counts for change in changes}


def _read(files: CardmarketFiles, read: Callable[[Path], None]) -> Sheets:
    """Products first, and so written first: a build in between then knows the products of the guide."""
    sheets = Sheets(read)
    for path in files.singles:
        sheets.add(path, PRODUCTS, read_products(path, "single"))
    for path in files.nonsingles:
        sheets.add(path, PRODUCTS, read_products(path, "sealed"))
    for path in files.expansions:
        sheets.add(path, EXPANSIONS, read_expansions(path))
    for path in files.price_guides:
        day, rows = read_price_guide(path)
        sheets.add(path, price_guide(day), rows)
    return sheets


def _merged(lake: Lake, table: LakeTable, sheets: list[pa.Buffer], game: str | None) -> Change:
    existing, elsewhere = lake.read(table), lake.keys_elsewhere(table)
    incoming = pa.concat_tables(map(decode, sheets))
    merged = merge(table, existing, incoming, elsewhere)
    if table is EXPANSIONS and game:
        merged = _with_game(merged, incoming["id"], game)
    same = merged.equals(existing)
    counts = count(table, existing, incoming, elsewhere, merged)
    return Change(table, counts, None if same else encode(merged))


def _with_game(expansions: pa.Table, ids: pa.ChunkedArray, game: str) -> pa.Table:
    """The operator's word for the game stands until another command names another."""
    place = expansions.schema.get_field_index("game")
    games = pc.if_else(pc.is_in(expansions["id"], ids), game, expansions["game"])
    return expansions.set_column(place, "game", games)
