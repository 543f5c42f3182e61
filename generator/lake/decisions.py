"""What nights, publishing and people decide about files in quarantine. Each decision is one conditional write."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from edge_auth.builds.builds import Build
from edge_auth.store.interface import Store
from generator.clock import timestamp
from generator.errors import QuarantineError
from generator.lake.file_keys import PRICE_TABLES, FileKey
from generator.lake.quarantine import (
    ACCEPTED,
    DROPPED,
    HELD,
    QuarantinedFile,
    change_quarantine,
    original_of,
    skipped_files,
)
from generator.lake.read_by_builds import files_read


def hold(
    store: Store, refused: Mapping[FileKey, Mapping[str, float]], *, build: str, run: str, now: datetime
) -> list[QuarantinedFile]:
    """Put files in quarantine, and return those that wait for a person. A verdict of a person stays.

    Args:
        refused: The gates that refused each file, with the values that they measured.
        build: The refused build.
    """

    def add(files: list[QuarantinedFile]) -> list[QuarantinedFile]:
        known = {file.key: file for file in files}
        for key, gates in refused.items():
            new = QuarantinedFile(*key[:3], HELD, {}, build, run, timestamp(now), game=key.game)
            file = known.get(key, new)
            known[key] = replace(file, gates=dict(sorted((file.gates | dict(gates)).items())), in_lake=True)
        return list(known.values())

    return [file for file in change_quarantine(store, add) if file.key in refused and file.waits]


def settle(store: Store, days: Collection[str], verdict: str, published: Build | None = None) -> list[QuarantinedFile]:
    """Accept or drop all files of some days, and return them.

    Args:
        published: The live build, to drop the prices of a day that it read. Of a day with files that wait for a person,
            these alone are meant.

    Raises:
        QuarantineError: No file of one of the days is in quarantine. Nothing was changed.
        StoreError: The quarantine cannot be read or written.
    """

    def decide(files: list[QuarantinedFile]) -> list[QuarantinedFile]:
        waiting = {file.day for file in files if file.waits}
        files = files + _withdrawn(files, published, set(days) - waiting)
        for day in sorted(set(days) - {file.day for file in files}):
            raise QuarantineError(
                f"no file of {day} is in quarantine in {store.location}: `cardpress quarantine list` lists the days"
            )
        return [replace(file, verdict=verdict) if file.day in days else file for file in files]

    return [file for file in change_quarantine(store, decide) if file.day in days]


def _withdrawn(files: list[QuarantinedFile], published: Build | None, days: Collection[str]) -> list[QuarantinedFile]:
    """Return the files of days that a build read and that were never in quarantine."""
    if published is None:
        return []
    known = {file.key.whole for file in files}
    prices = (file for file in files_read(published) if file.day in days and file.table in PRICE_TABLES)
    read = {original_of(published.record, file) for file in prices}
    return [QuarantinedFile(*key[:3], DROPPED, {}, published.id, "", "") for key in sorted(read - known)]


def accept_read_files(store: Store, build: Build) -> None:
    """Accept the files in quarantine that a build read, because it goes live."""

    def accept(files: list[QuarantinedFile]) -> list[QuarantinedFile]:
        read = files_read(build) if files else set()  # most stores have nothing in quarantine
        return [replace(file, verdict=ACCEPTED) if file.key.whole in read else file for file in files]

    change_quarantine(store, accept)


def note_lake(store: Store, build: Build) -> None:
    """Record which held files a lake still has, by a build of all its days."""

    def note(files: list[QuarantinedFile]) -> list[QuarantinedFile]:
        found = {key.whole for key in skipped_files(build.record) | files_read(build)} if files else set()
        return [replace(file, in_lake=file.key.whole in found) if file.verdict == HELD else file for file in files]

    change_quarantine(store, note)
