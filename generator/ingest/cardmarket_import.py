"""Imports the marketplace's download files: read every file, merge under the lake's lock, then write.

Nothing is written before every file was read and every table merged. In a folder, all changed files then appear
together or not at all.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from generator.ingest.bounded_file import DOWNLOAD_LIMITS, FileLimits
from generator.ingest.cardmarket_files import read_expansions, read_price_guide, read_products
from generator.ingest.list_pages import list_pages_file
from generator.ingest.merge import FileChange, MergeCounts, changed_files
from generator.ingest.table_updates import TableUpdate, add_list_pages, update_table
from generator.ingest.tables import TableFile, expansions_file, price_guide_file, products_file
from generator.ingest.two_games import NO_PRODUCTS, TwoGames, products_of_two_games
from generator.lake.writer import LakeWriter, encode_parquet

# Rows of each table file as Parquet bytes, because a year of price guides has to fit in memory.
_ImportedRows = dict[TableFile, list[pa.Buffer]]


@dataclass(frozen=True)
class CardmarketFiles:
    """The files of one import, each kind in any order."""

    singles: tuple[Path, ...] = ()
    nonsingles: tuple[Path, ...] = ()
    expansions: tuple[Path, ...] = ()
    price_guides: tuple[Path, ...] = ()
    limits: FileLimits = DOWNLOAD_LIMITS

    def __len__(self) -> int:
        return len(self.singles) + len(self.nonsingles) + len(self.expansions) + len(self.price_guides)


def import_cardmarket(
    lake: LakeWriter, files: CardmarketFiles, game: str | None, on_read: Callable[[Path], None]
) -> dict[str, MergeCounts]:
    """Merge the rows of the files into the lake.

    Args:
        game: The game of the expansions in the files. None keeps the games of the lake.
        on_read: Called with each file after it was read.

    Returns:
        What changed in each file of the lake, by its path.

    Raises:
        IngestError: A file or a table of the lake cannot be read, and nothing was written; or writing failed.
    """
    imported = _read(files, on_read)
    with lake.locked():
        changes = _update_catalogue(lake, imported, game)
        guides = [file for file in imported if file not in (products_file(), expansions_file())]
        changes += [update_table(lake, file, imported[file]).change() for file in guides]
        lake.write(changed_files(changes))
    return {change.path: change.counts for change in changes}


def _read(files: CardmarketFiles, on_read: Callable[[Path], None]) -> _ImportedRows:
    imported: _ImportedRows = {}
    for path, file, rows in _parsed(files):
        imported.setdefault(file, []).append(encode_parquet(rows))
        on_read(path)
    return imported


def _parsed(files: CardmarketFiles) -> Iterator[tuple[Path, TableFile, pa.Table]]:
    """Yield products first, so that they are written first: a build in between then knows the guide's products."""
    for path in files.singles:
        yield path, products_file(), read_products(path, "single", files.limits)
    for path in files.nonsingles:
        yield path, products_file(), read_products(path, "sealed", files.limits)
    for path in files.expansions:
        yield path, expansions_file(), read_expansions(path, files.limits)
    for path in files.price_guides:
        day, rows = read_price_guide(path, files.limits)
        yield path, price_guide_file(day), rows


def _update_catalogue(lake: LakeWriter, imported: _ImportedRows, game: str | None) -> list[FileChange]:
    """Update products and expansions, with the values of list pages."""
    files = (products_file(), expansions_file())
    if not any(file in imported for file in files):
        return []
    updates = products, expansions = [update_table(lake, file, imported.get(file, ())) for file in files]
    if game:
        expansions.after = _with_game(expansions.after, expansions.incoming["id"], game)
    add_list_pages(products, expansions, list_pages_file().read(lake))
    doubtful = products_of_two_games(products, expansions)
    written = (update for update in updates if update.file in imported or update.is_changed)
    return [_change(update, doubtful if update is products else NO_PRODUCTS) for update in written]


def _change(update: TableUpdate, found: TwoGames) -> FileChange:
    change = update.change()
    counts = replace(change.counts, in_two_games=found.products, example_in_two_games=found.example)
    return change._replace(counts=counts)


def _with_game(expansions: pa.Table, ids: pa.ChunkedArray, game: str) -> pa.Table:
    """Set the game of these expansions. It stays until another import names another."""
    place = expansions.schema.get_field_index("game")
    games = pc.if_else(pc.is_in(expansions["id"], ids), game, expansions["game"])
    return expansions.set_column(place, "game", games)
