"""Checks the lake: its tables, their newest days, and unfinished imports."""

from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

from edge_auth.store.open import is_folder
from generator.clock import Clock
from generator.database import Database
from generator.ingest.gaps import unnamed_expansions
from generator.lake.files import STAGE, LakeFile
from generator.lake.lake import DAILY_TABLES, list_files
from generator.lake.tables import check_columns
from generator.lake.writer import LakeWriter
from generator.reading.doctor.findings import Finding, ok, problem, warning
from generator.threads import ONE_THREAD


def check_lake(location: str, clock: Clock) -> Iterator[Finding]:
    """Check the tables and their newest days. In a folder, also open the newest file of each table."""
    files = list_files(location)
    tables: dict[str, list[LakeFile]] = {}
    for file in files:
        tables.setdefault(file.table, []).append(file)
    if "products" not in tables:
        yield problem("lake", f"{location} has no products*.parquet", "`cardpress ingest cardmarket` writes it")
        return
    yield ok("lake", f"{location}: {len(files):,} files, {', '.join(sorted(tables))}")
    yield from _check_days(tables, clock().date())
    if names := unnamed_expansions(LakeWriter(location)):
        more = "s have" if len(names) > 1 else " has"
        message = f"{len(names):,} set{more} no name, such as {names[0]}"
        yield warning("sets", message, "`cardpress ingest expansions --template` prints the table to fill")
    if is_folder(location):
        if (stage := Path(location) / STAGE).exists():
            message = f"{stage}: an import is running or was interrupted"
            yield warning("import", message, "the next import or build completes it or removes it")
        _check_columns(location, tables)


def _check_days(tables: dict[str, list[LakeFile]], today: date) -> Iterator[Finding]:
    newest = {table: max(f.day for f in tables[table] if f.day) for table in DAILY_TABLES if table in tables}
    days = ", ".join(f"{table} {day}" for table, day in newest.items())
    if len(set(newest.values())) == 1:
        days = f"all tables {max(newest.values())}"
    if not newest:
        yield warning("days", "no table has a day= partition", "pass the day to the build: --as-of DAY")
    elif max(newest.values()) > today:
        message = f"the newest partition is later than today on this machine ({today} in UTC): {days}"
        yield problem("days", message, "set the clock, or move that partition away")
    elif (today - max(newest.values())).days > 2:
        yield warning("days", f"the newest days are old: {days}", "check the jobs that write the lake")
    else:
        yield ok("days", days)


def _check_columns(location: str, tables: dict[str, list[LakeFile]]) -> None:
    """Check the newest file of each table against `build/lake.sql`."""
    with closing(Database(ONE_THREAD)) as db:
        for table, files in tables.items():
            last = max(files, key=lambda file: (file.day or date.min, file.name))
            newest = LakeFile(last.name, table, last.day, path=str(Path(location) / last.name))
            check_columns(db, table, [newest])
