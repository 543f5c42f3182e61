"""The day files of a lake that a build read: how builds list them, and what one read that another did not.

The record of a build lists those of the open month by table and day, its layers of days those of the closed months.
"""

import json
from collections.abc import Iterable

from edge_auth.builds import layer_names
from edge_auth.builds.builds import Build
from edge_auth.builds.record import BuildRecord, TableInputs
from generator.lake.file_keys import FileKey
from generator.lake.files import LakeFile
from generator.pack.verify import checked_file

DAY_FILES = "files"  # a file of the layers that list the day files of closed months


def hashes_by_day(files: Iterable[LakeFile]) -> dict[str, list[str]]:
    """Return the sorted hashes of the files of each day; of a file without the rows of a game its identity."""
    days: dict[str, list[str]] = {}
    for file in sorted((file for file in files if file.day), key=lambda file: (str(file.day), file.identity)):
        days.setdefault(str(file.day), []).append(file.identity)
    return days


def files_read(build: Build) -> set[FileKey]:
    """Return the day files that a build read. Builds of older versions name none.

    Raises:
        DamageError, StoreError: A list of them cannot be read.
    """
    inputs = _inputs(build.record)
    lists: list[dict[str, dict[str, list[str]]]] = [{table: inputs[table].get("days", {}) for table in inputs}]
    for name, layer in build.layers.items():
        if name.startswith(layer_names.days_layer("")):
            lists.append(json.loads(checked_file(layer, DAY_FILES).read_bytes()))
    return {
        FileKey(table, day, sha256)
        for tables in lists
        for table, days in tables.items()
        for day, hashes in days.items()
        for sha256 in hashes
    }


def _inputs(record: BuildRecord) -> dict[str, TableInputs]:
    """Return the files of each table that a build read; none in a record of an older version."""
    return record["provenance"]["inputs"] if "provenance" in record else {}


def unread_files(build: Build, live: Build) -> set[FileKey]:
    """Return the day files that a build read and the live one did not.

    Builds of older versions name no files, only the last day of each table.
    """
    return unread_of(files_read(build), live)


def unread_of(files: set[FileKey], live: Build) -> set[FileKey]:
    """Return those of some day files that the live build did not read."""
    inputs = _inputs(live.record)
    last_days = {table: known["last_day"] for table, known in inputs.items() if "last_day" in known}
    unnamed = {table: day for table, day in last_days.items() if "days" not in inputs[table]}
    return {file for file in files - files_read(live) if file.day > unnamed.get(file.table, "")}
