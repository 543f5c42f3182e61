"""One import from first to last: read every file, merge under the lake's lock, then write.

Nothing is written before every file was read and checked, nor before every table was merged. Then all tables appear
together or not at all.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from generator.ingest.cardmarket import read_expansions, read_price_guide, read_products
from generator.ingest.drafts import Draft, fill
from generator.ingest.merge import Change, MergeCounts
from generator.ingest.pages import LIST_PAGES
from generator.ingest.tables import EXPANSIONS, PRODUCTS, LakeTable, LakeWriter, encode, price_guide

CATALOGUE = (PRODUCTS, EXPANSIONS)


@dataclass(frozen=True)
class CardmarketFiles:
    """The files of one import, each kind in any order."""

    singles: tuple[Path, ...] = ()
    nonsingles: tuple[Path, ...] = ()
    expansions: tuple[Path, ...] = ()
    price_guides: tuple[Path, ...] = ()

    def __len__(self) -> int:
        return len(self.singles) + len(self.nonsingles) + len(self.expansions) + len(self.price_guides)


@dataclass
class Sheets:
    """What the files say, per lake table, as Parquet bytes: a year of guides has to fit in memory."""

    read: Callable[[Path], None]  # told of each file that was read
    of: dict[LakeTable, list[pa.Buffer]] = field(default_factory=dict)

    def add(self, path: Path, table: LakeTable, rows: pa.Table) -> None:
        self.of.setdefault(table, []).append(encode(rows))
        self.read(path)


def import_cardmarket(
    lake: LakeWriter, files: CardmarketFiles, game: str | None, read: Callable[[Path], None]
) -> dict[str, MergeCounts]:
    """Bring the lake up to what the files say; says for each table, by its file's name, what changed.

    Args:
        game: the game of the expansions in the files, if the operator named one.
        read: called with each file once it was read.

    Raises:
        IngestError: a file or a lake table cannot be read, and nothing was written; or writing failed.
    """
    sheets = _read(files, read)
    with lake.locked():
        changes = _catalogue(lake, sheets, game)
        guides = [table for table in sheets.of if table not in CATALOGUE]
        changes += [Draft.of(lake, table, sheets.of[table]).change() for table in guides]
        lake.put({change.name: change.data for change in changes if change.data is not None})
    return {change.name: change.counts for change in changes}


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


def _catalogue(lake: LakeWriter, sheets: Sheets, game: str | None) -> list[Change]:
    """Products and expansions, with what list pages say of them."""
    if not any(table in sheets.of for table in CATALOGUE):
        return []
    drafts = products, expansions = [Draft.of(lake, table, sheets.of.get(table, [])) for table in CATALOGUE]
    if game:
        expansions.after = _with_game(expansions.after, expansions.incoming["id"], game)
    fill(products, expansions, lake.read(LIST_PAGES))
    return [draft.change() for draft in drafts if draft.table in sheets.of or draft.changed]


def _with_game(expansions: pa.Table, ids: pa.ChunkedArray, game: str) -> pa.Table:
    """The operator's word for the game stands until another command names another."""
    place = expansions.schema.get_field_index("game")
    games = pc.if_else(pc.is_in(expansions["id"], ids), game, expansions["game"])
    return expansions.set_column(place, "game", games)
