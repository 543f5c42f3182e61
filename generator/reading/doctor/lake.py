"""Whether the lake can be read: its tables, their newest days, and what a writer may have left behind."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

from edge_auth.contract.store.open import is_folder
from generator.clock import Clock
from generator.database import Database
from generator.lake.files import LakeFile
from generator.lake.journal import STAGE as UNFINISHED
from generator.lake.lake import DAILY_TABLES, list_files
from generator.lake.tables import check_columns
from generator.reading.doctor.findings import Finding, ok, problem, warning


def check_lake(location: str, clock: Clock) -> Iterator[Finding]:
    """The tables, each with its newest day. Only the newest file of each is opened, and only in a folder.

    Raises:
        LakeError: there is no lake, or a partition names no day.
    """
    files = list_files(location)
    tables: dict[str, list[LakeFile]] = {}
    for file in files:
        tables.setdefault(file.table, []).append(file)
    if "products" not in tables:
        yield problem("lake", f"{location} has no products*.parquet", "`cardpress ingest cardmarket` writes it")
        return
    yield ok("lake", f"{location}: {len(files):,} files, {', '.join(sorted(tables))}")
    yield from _days(tables, clock().date())
    if is_folder(location):
        yield from _unfinished(Path(location))
        _check_columns(location, tables)


def _days(tables: dict[str, list[LakeFile]], today: date) -> Iterator[Finding]:
    newest = {table: max(f.day for f in tables[table] if f.day) for table in DAILY_TABLES if table in tables}
    told = ", ".join(f"{table} {day}" for table, day in newest.items())
    if len(set(newest.values())) == 1:
        told = f"all tables {max(newest.values())}"
    if not newest:
        yield warning("days", "no table has a day= partition", "name the day when you build: --as-of DAY")
    elif max(newest.values()) > today:
        told = f"the newest partition lies ahead of this machine's clock ({today} in UTC): {told}"
        yield problem("days", told, "set the clock, or move that partition away")
    elif (today - max(newest.values())).days > 2:
        yield warning("days", f"the newest days are old: {told}", "see what writes the lake")
    else:
        yield ok("days", told)


def _unfinished(lake: Path) -> Iterator[Finding]:
    if (lake / UNFINISHED).exists():
        told = f"{lake / UNFINISHED}: an import is at work or was interrupted"
        yield warning("import", told, "the next import or build completes it or clears it away")


def _check_columns(location: str, tables: dict[str, list[LakeFile]]) -> None:
    """The newest file of each table against what `build/lake.sql` declares. Raises LakeError where it differs."""
    db = Database(threads=1)
    try:
        for table, files in tables.items():
            last = max(files, key=lambda file: (file.day or date.min, file.name))
            newest = LakeFile(last.name, table, last.day, path=str(Path(location) / last.name))
            check_columns(db, table, [newest])
    finally:
        db.close()
