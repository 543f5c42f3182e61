"""Imports scraped lines: read every line, merge under the lake's lock, then write.

Nothing is written before every line was read. In a folder, the files of all days and tables then appear together or
not at all.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from edge_auth.text import fold
from generator import settings
from generator.clock import timestamp, utc_now
from generator.errors import IngestError
from generator.ingest.bounded_file import LINES_LIMITS, FileLimits
from generator.ingest.findings import (
    CONTRADICTION,
    FAR_DAY,
    FUTURE,
    INCOMPLETE_OFFERS,
    UNKNOWN_CONDITIONS,
    UNKNOWN_SLUGS,
    ImportFinding,
    refuse,
)
from generator.ingest.formats import LIST_PAGES, OFFERS, WATCH_CHECKS, LineFormat, ScrapedFormat
from generator.ingest.lake_rules import check_rows, first_broken
from generator.ingest.lines import FileLines, LineReader, store_refused
from generator.ingest.merge import FileChange, MergeCounts, changed_files
from generator.ingest.merge_days import merge_days
from generator.ingest.table_files import DailyTable
from generator.ingest.table_updates import update_from_pages
from generator.ingest.values import quoted_json
from generator.lake.tables import BrokenRule
from generator.lake.writer import LakeWriter

OnRead = Callable[[Path], None]


@dataclass(frozen=True)
class LineFiles:
    """The files of one import, and the file for its refused lines. Without one, a refused line stops the import.

    Attributes:
        accepted: The cases of `findings` that do not stop the import.
    """

    paths: Sequence[Path]
    bad_lines: Path | None
    limits: FileLimits = LINES_LIMITS
    accepted: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ImportResult:
    """The result of an import of scraped lines.

    Attributes:
        lines: How many lines the files have, refused ones included.
        refused: How many of them were refused.
        incomplete_offers: Offers under the seller filter without price, seller or known condition. Builds skip them.
        tables: What changed in each file of the lake, by its path.
        findings: What was accepted, or only reported.
    """

    lines: int
    refused: int
    incomplete_offers: int
    tables: dict[str, MergeCounts]
    findings: tuple[ImportFinding, ...] = ()


def import_lines(line_format: ScrapedFormat, lake: LakeWriter, files: LineFiles, on_read: OnRead) -> ImportResult:
    """Import lines into the table of their format. Those of list pages also change products and expansions.

    Args:
        on_read: Called with each file after it was read.

    Raises:
        IngestError: A file or a table of the lake cannot be read, or lines are refused and `bad_lines` is None, and
            nothing was written; or writing failed.
    """
    table = line_format.table
    reader = _read(files, on_read, line_format)
    rows = reader.table()
    findings = _check(line_format, reader, rows, files.accepted)
    if line_format is WATCH_CHECKS:
        findings += tuple(_unknown_slugs(lake, rows))
    with lake.locked():
        changes = list(merge_days(lake, table, rows.select(table.schema.names)))
        changed = changed_files(changes)
        if line_format is LIST_PAGES:
            changed_pages, *updates = update_from_pages(lake, rows)
            catalogue = [change for update in updates if _concerns((change := update.change()).counts)]
            changes += catalogue
            changed |= changed_pages | changed_files(catalogue)
        write_changes(lake, files, reader, changed)
    incomplete = sum(file.incomplete for file in reader.files) if line_format is OFFERS else 0
    return replace(import_result(reader, changes, incomplete), findings=findings)


def _read(files: LineFiles, on_read: OnRead, line_format: LineFormat) -> LineReader:
    reader = LineReader(line_format, files.limits)
    for path in files.paths:
        reader.read(path)
        on_read(path)
    finish_reading(files, reader)
    return reader


def finish_reading(files: LineFiles, reader: LineReader) -> None:
    """Stop an import that refused lines and has no place for them, or refused all lines of a file.

    Raises:
        IngestError: There are such lines. The message names the first.
    """
    if reader.refused and not files.bad_lines:
        first, others = reader.refused[0], len(reader.refused) - 1
        more = f" (and {others:,} more refused line{'s' * (others > 1)})" if others else ""
        advice = "--bad-lines FILE keeps bad lines and imports the rest"
        raise IngestError(f"{first}{more}; nothing was imported: {advice}")
    for file in reader.files:
        if file.refused and file.refused == file.lines and files.bad_lines:
            store_refused(files.bad_lines, reader.refused)
            first = next(line for line in reader.refused if line.file == str(file.path))
            raise IngestError(
                f"{first}; all {file.lines:,} lines were refused, nothing was imported: see {files.bad_lines}"
            )


def _concerns(counts: MergeCounts) -> bool:
    """Return whether an import has rows of a file, or of other files of the same table."""
    return bool(counts.rows or counts.in_other_files)


def write_changes(lake: LakeWriter, files: LineFiles, reader: LineReader, changed: dict[str, pa.Buffer]) -> None:
    """Store refused lines, then write the files of the lake. Requires the lock of the lake."""
    if files.bad_lines and reader.refused:
        store_refused(files.bad_lines, reader.refused)  # before the lake, so that no refused line is ever lost
    lake.write(changed)


def import_result(reader: LineReader, changes: list[FileChange], incomplete_offers: int = 0) -> ImportResult:
    """Return the result of an import that made these changes."""
    tables = {change.path: change.counts for change in changes}
    return ImportResult(reader.lines, len(reader.refused), incomplete_offers, tables)


def _check(
    line_format: ScrapedFormat, reader: LineReader, rows: pa.Table, accepted: Collection[str]
) -> tuple[ImportFinding, ...]:
    """Return what is doubtful about rows, if it is accepted.

    Raises:
        IngestError: No build would accept the rows, or a case is not accepted.
    """
    table = line_format.table
    for broken in check_rows(table.name, rows.select(table.schema.names)):
        raise IngestError(f"{_place_of(reader, table, broken)}: {broken}: no build would accept it: correct the line")
    findings = [found for file in reader.files for found in (*_doubts(line_format, file), *_far_times(table, file))]
    refuse(findings, accepted)
    return tuple(findings)


def _place_of(reader: LineReader, table: DailyTable, broken: BrokenRule) -> str:
    """Return the file and the line of the first row that breaks a rule of the table."""
    place = first_broken(table.name, reader.table().select(table.schema.names), broken)
    for file in reader.files:
        if place < len(file.numbers):
            return f"{file.path}: line {file.numbers[place]}"
        place -= len(file.numbers)
    raise AssertionError("the row is of none of the files")


def _doubts(line_format: ScrapedFormat, file: FileLines) -> Iterator[ImportFinding]:
    """Yield what is doubtful about the checks of a file."""
    target = line_format.table.name
    if file.contradictions:
        more = f" (and {file.contradictions - 1:,} more lines)" if file.contradictions > 1 else ""
        message = f"{file.first_contradiction}{more}: did the page change?"
        yield ImportFinding(CONTRADICTION, str(file.path), target, file.contradictions, message)
    if file.conditions:
        named = ", ".join(f"{quoted_json(text)} ({count:,})" for text, count in file.conditions.most_common(5))
        message = f"{file.conditions.total():,} offers have a condition that is none of the seven: {named}"
        yield ImportFinding(
            UNKNOWN_CONDITIONS, str(file.path), target, file.conditions.total(), message, is_refused=False
        )
    if file.offers and file.offers == file.incomplete:
        message = f"each of its {file.offers:,} offers lacks one of {', '.join(line_format.needed)}"
        yield ImportFinding(INCOMPLETE_OFFERS, str(file.path), target, file.offers, message)


def _unknown_slugs(lake: LakeWriter, rows: pa.Table) -> Iterator[ImportFinding]:
    """Yield the slugs of checks that no tracked product has."""
    schema = pa.schema([("slug", pa.string())])
    tracked = [lake.read_columns(path, schema)["slug"].to_pylist() for path in lake.list_tables("watchlist")]
    known = {fold(slug) for slugs in tracked for slug in slugs if slug}
    unknown = sorted(slug for slug in pc.unique(rows["slug"]).to_pylist() if fold(slug) not in known)
    if unknown:
        example = f"such as {quoted_json(unknown[0])}: builds leave them out"
        message = f"{len(unknown):,} slugs are those of no tracked product, {example}"
        yield ImportFinding(UNKNOWN_SLUGS, "lines", WATCH_CHECKS.table.name, len(unknown), message, is_refused=False)


def _far_times(table: DailyTable, file: FileLines) -> Iterator[ImportFinding]:
    times = file.rows[table.time]
    latest = (utc_now() + settings.MAX_LINES_AHEAD_OF_CLOCK).replace(tzinfo=None)
    first = datetime(settings.FIRST_GUIDE_YEAR, 1, 1)
    for case, is_far, why in (
        (FUTURE, pc.greater(times, pa.scalar(latest, times.type)), "which the clock has not reached"),
        (FAR_DAY, pc.less(times, pa.scalar(first, times.type)), "but no check is that old"),
    ):
        if count := pc.sum(is_far).as_py():
            place = pc.index(is_far, True).as_py()
            time = timestamp(times[place].as_py().replace(tzinfo=UTC))
            more = f" (and {count - 1:,} more lines)" if count > 1 else ""
            message = f"line {file.numbers[place]}: {table.time} is {time}, {why}{more}"
            yield ImportFinding(case, str(file.path), table.name, count, message)
