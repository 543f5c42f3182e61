"""Imports the marketplace's download files: read every file, merge under the lake's lock, then write.

Nothing is written before every file was read and every table merged. In a folder, all changed files then appear
together or not at all.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from generator import settings
from generator.ingest.bounded_file import DOWNLOAD_LIMITS, FileLimits
from generator.ingest.cardmarket_files import ImportedFile, read_expansions, read_price_guide, read_products
from generator.ingest.findings import FAR_DAY, REPLACED, ImportFinding, refuse
from generator.ingest.guide_columns import find_missing
from generator.ingest.list_page_values import list_pages_file
from generator.ingest.merge import FileChange, MergeCounts, changed_files, merge
from generator.ingest.numbers_from_names import fill_numbers
from generator.ingest.replaced_guides import find_replaced
from generator.ingest.table_files import TableFile, expansions_file, price_guide_file, products_file
from generator.ingest.table_updates import TableUpdate, complete_catalogue, update_table
from generator.ingest.two_games import NO_PRODUCTS, TwoGames, products_of_two_games
from generator.lake.writer import LakeWriter, decode_parquet, encode_parquet

# Rows of each table file, as Parquet.
_ImportedRows = dict[TableFile, list[pa.Buffer]]


@dataclass(frozen=True)
class CardmarketFiles:
    """The files of one import, each kind in any order.

    Attributes:
        accepted: The cases of `findings` that do not stop the import.
        games: The game of an expansions file, if no game is given for all.
        number_pattern: How collector numbers stand in names (`numbers_from_names`). None: they are not taken there.
    """

    singles: tuple[Path, ...] = ()
    nonsingles: tuple[Path, ...] = ()
    expansions: tuple[Path, ...] = ()
    price_guides: tuple[Path, ...] = ()
    limits: FileLimits = DOWNLOAD_LIMITS
    accepted: frozenset[str] = frozenset()
    games: Mapping[Path, str] = field(default_factory=dict)
    number_pattern: str | None = None

    def __len__(self) -> int:
        return len(self.singles) + len(self.nonsingles) + len(self.expansions) + len(self.price_guides)


@dataclass(frozen=True)
class CardmarketResult:
    """The result of an import.

    Attributes:
        read: Each file, and what was read from it.
        tables: What changed in each file of the lake, by its path.
        findings: What was accepted, or only reported.
    """

    read: list[tuple[Path, str]]
    tables: dict[str, MergeCounts]
    findings: list[ImportFinding]

    def as_json(self) -> dict[str, dict[str, int]]:
        """Return the counts of each file of the lake, and the counts of the findings in the files for it."""
        found: dict[str, dict[str, int]] = {path: {} for path in self.tables}
        for finding in self.findings:
            counts = found.setdefault(finding.target, {})
            counts[finding.case] = counts.get(finding.case, 0) + finding.occurrences
        return {path: (self.tables[path].as_json() if path in self.tables else {}) | found[path] for path in found}


class _PackedFile(NamedTuple):
    """A file that was read, without its rows, and the rows as Parquet: a year of price guides has to fit in memory."""

    file: ImportedFile
    rows: pa.Buffer


def import_cardmarket(
    lake: LakeWriter, files: CardmarketFiles, game: str | None, on_read: Callable[[ImportedFile], None]
) -> CardmarketResult:
    """Merge the rows of the files into the lake.

    Args:
        game: The game of the expansions in the files. None keeps the games of the lake.
        on_read: Called with each file after it was read.

    Raises:
        IngestError: A file or a table of the lake cannot be read, or a file has a finding that is not accepted, and
            nothing was written; or writing failed.
    """
    packed = [_packed(file, on_read) for file in _read(files)]
    with lake.locked():
        findings = [
            *(found for one in packed for found in one.file.findings),
            *_missing_prices(lake, packed),
            *_far_days(lake, packed),
            *_replaced_guides(lake, packed),
        ]
        refuse(findings, files.accepted)
        imported = _by_target(packed)
        games = {one.file.path: game or files.games.get(one.file.path) for one in packed}
        changes = _update_catalogue(lake, imported, _games_of(packed, games), files.number_pattern)
        guides = [file for file in imported if file not in (products_file(), expansions_file())]
        changes += [update_table(lake, file, imported[file]).change() for file in guides]
        lake.write(changed_files(changes))
    read = [(one.file.path, one.file.what) for one in packed]
    return CardmarketResult(read, {change.path: change.counts for change in changes}, findings)


def _read(files: CardmarketFiles) -> Iterator[ImportedFile]:
    """Yield products first, so that they are written first: a build in between then knows the guide's products."""
    for path in files.singles:
        yield read_products(path, "single", files.limits)
    for path in files.nonsingles:
        yield read_products(path, "sealed", files.limits)
    for path in files.expansions:
        yield read_expansions(path, files.limits)
    for path in files.price_guides:
        yield read_price_guide(path, files.limits)


def _packed(file: ImportedFile, on_read: Callable[[ImportedFile], None]) -> _PackedFile:
    on_read(file)
    return _PackedFile(file._replace(rows=file.rows.schema.empty_table()), encode_parquet(file.rows))


def _by_target(packed: list[_PackedFile]) -> _ImportedRows:
    imported: _ImportedRows = {}
    for one in packed:
        imported.setdefault(one.file.target, []).append(one.rows)
    return imported


def _missing_prices(lake: LakeWriter, packed: list[_PackedFile]) -> Iterator[ImportFinding]:
    """Yield the price columns that guides lack, compared with the newest guide of an earlier day."""
    guides = [one for one in packed if one.file.columns]
    stored = lake.list_days("price_guide") if guides else []
    for guide in guides:
        columns, day = guide.file.columns, guide.file.day
        if columns and (columns.absent or columns.unknown):
            days = [other for other in (*stored, *(one.file.day for one in guides)) if other < day]
            previous = _guide_of(lake, max(days), guides) if days else guide.file.rows
            yield from find_missing(
                str(guide.file.path), guide.file.target.path, columns, decode_parquet(guide.rows), previous
            )


def _far_days(lake: LakeWriter, packed: list[_PackedFile]) -> Iterator[ImportFinding]:
    """Yield the guides whose day is long before the newest one, such as 1970: a wrong clock made them."""
    guides = [one.file for one in packed if one.file.columns]
    stored = lake.list_days("price_guide") if guides else []
    near = _days_near_newest(stored, [guide.day for guide in guides])
    for guide in guides:
        if guide.day not in near or guide.day.year < settings.FIRST_GUIDE_YEAR:
            newest = f"the newest guide of the lake is of {max(stored)}" if stored else "no guide is that old"
            message = f"createdAt is {guide.created_at.isoformat()}, but {newest}"
            yield ImportFinding(FAR_DAY, str(guide.path), guide.target.path, 1, message)


def _days_near_newest(stored: list[date], imported: list[date]) -> set[date]:
    """Return the days of guides that no long gap separates from the newest of the lake, or else of the import.

    Later days are near: imports go on after a pause, however long it was.
    """
    days, newest = {*stored, *imported}, max(stored or imported, default=date.min)
    near, last = {day for day in days if day >= newest}, newest
    for day in sorted(days - near, reverse=True):
        if (last - day).days > settings.MAX_DAYS_WITHOUT_GUIDE:
            break
        near.add(day)
        last = day
    return near


def _replaced_guides(lake: LakeWriter, packed: list[_PackedFile]) -> Iterator[ImportFinding]:
    """Yield the guides that replace another one of their day, in the lake or in this import."""
    by_target: dict[TableFile, list[_PackedFile]] = {}
    for one in packed:
        if one.file.columns:
            by_target.setdefault(one.file.target, []).append(one)
    for target, guides in by_target.items():
        before = target.read(lake)
        for one in sorted(guides, key=lambda one: one.file.created_at):
            rows = decode_parquet(one.rows)
            if replaced := find_replaced(target, before, rows):
                source, message = str(one.file.path), str(replaced)
                yield ImportFinding(REPLACED, source, target.path, replaced.changed, message, is_refused=False)
            if len(guides) > 1:
                before = merge(target, before, rows, target.keys_in_other_files(lake))


def _guide_of(lake: LakeWriter, day: date, guides: list[_PackedFile]) -> pa.Table:
    """Return the guide of a day, in the lake and in the files of this import."""
    file = price_guide_file(day)
    imported = [decode_parquet(one.rows) for one in guides if one.file.day == day]
    return pa.concat_tables([file.read(lake).select(file.imported), *imported])


def _games_of(packed: list[_PackedFile], games: Mapping[Path, str | None]) -> Iterator[tuple[pa.ChunkedArray, str]]:
    """Yield the ids of the expansions in a file, and their game."""
    for one in packed:
        game = games[one.file.path]
        if one.file.target == expansions_file() and game:
            yield decode_parquet(one.rows)["id"], game


def _update_catalogue(
    lake: LakeWriter,
    imported: _ImportedRows,
    games: Iterable[tuple[pa.ChunkedArray, str]],
    number_pattern: str | None,
) -> list[FileChange]:
    """Update products and expansions, with the values of list pages."""
    files = (products_file(), expansions_file())
    if not any(file in imported for file in files) and not number_pattern:
        return []
    updates = products, expansions = [update_table(lake, file, imported.get(file, ())) for file in files]
    for ids, game in games:
        expansions.after = _with_game(expansions.after, ids, game)
    complete_catalogue(products, expansions, list_pages_file().read(lake))
    if number_pattern:
        products.after = fill_numbers(products.after, number_pattern)
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
