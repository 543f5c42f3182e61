"""The lake: which files there are, by table and day, and what they contain.

Where the files lie is the business of `lake_files` (a folder) and `lake_bucket` (s3://…).
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from edge_auth.contract.store.open import is_folder, scheme_of
from generator.errors import LakeError
from generator.lake.files import LakeFile, LakeFiles
from generator.lake.folder import FolderFiles
from generator.progress import Progress

FLAT_TABLES = ("expansions", "products", "watchlist", "fingerprints")
PRICE_TABLES = ("price_guide", "listings", "filtered_checks")
DAILY_TABLES = (*PRICE_TABLES, "watch_checks")
RECIPE_NAME = "fingerprints.json"
_PARTITION = re.compile(r"day=([0-9]{4}-[0-9]{2}-[0-9]{2})")


@dataclass(frozen=True)
class Lake:
    """The files that a build reads, none later than the as-of day."""

    location: str
    as_of: date
    files: tuple[LakeFile, ...]
    recipe: dict | None
    recipe_sha256: str
    place: LakeFiles = field(repr=False, compare=False)

    def of(self, table: str, first: date = date.min, last: date = date.max) -> list[LakeFile]:
        """Files of a table; of a daily table those of the days from `first` to `last`."""
        return [f for f in self.files if f.table == table and (f.day is None or first <= f.day <= last)]

    def at_hand(self, table: str, first: date = date.min, last: date = date.max) -> list[LakeFile]:
        """The same, each at its path until the table is asked for again.

        Raises:
            LakeError: one cannot be fetched.
        """
        return self.place.fetch(table, self.of(table, first, last))

    def size(self, *tables: str, first: date = date.min, last: date = date.max) -> int:
        """How many bytes the files of these tables and days have."""
        return sum(f.size for table in tables for f in self.of(table, first, last))

    def content(self, *tables: str, first: date = date.min, last: date = date.max) -> list[str]:
        """What the tables are: the multiset of (table, day, content); names and order of files do not count."""
        files = (f for table in tables for f in self.of(table, first, last))
        return sorted(f"{f.table} {f.day or '-'} {f.sha256}" for f in files)


def open_lake(location: str, as_of: date | None = None, progress: Progress | None = None) -> Lake:
    """Find and fingerprint the files of the lake.

    Args:
        location: a folder or s3://bucket/prefix.
        as_of: the day the build speaks for; None for the newest partition.

    Raises:
        LakeError: no such lake, no products, a partition that names no day, no day to speak for, or a
            fingerprint recipe that is missing or wrong.
    """
    place = _place(location)
    with place.settled():
        return _opened(location, place, as_of, progress or Progress(quiet=True))


def list_files(location: str) -> list[LakeFile]:
    """The files of the tables as they lie there, without a look into them; what an import left is not touched.

    Raises:
        LakeError: no such lake, or a partition that names no day.
    """
    return list(_table_files(location, _place(location)))


def absolute(location: str) -> str:
    """A lake's location as it is understood from any folder."""
    return os.fspath(Path(location).absolute()) if is_folder(location) else location


def _opened(location: str, place: LakeFiles, as_of: date | None, progress: Progress) -> Lake:
    files = list(_table_files(location, place))
    if not any(f.table == "products" for f in files):
        raise LakeError(f"lake {location} has no products*.parquet, the one table that a build cannot do without")
    as_of = as_of or _newest_day(location, files)
    files = [f for f in files if f.day is None or f.day <= as_of]
    recipe, recipe_sha256 = _recipe(location, place, any(f.table == "fingerprints" for f in files))
    identified = tuple(place.identified(files, progress))
    return Lake(location, as_of, identified, recipe, recipe_sha256, place)


def _place(location: str) -> LakeFiles:
    if scheme_of(location) == "s3":
        from generator.lake.bucket import BucketFiles  # boto3 takes a while to import

        return BucketFiles(location)
    if not is_folder(location):
        raise LakeError(f"lake {location}: a lake is a folder or s3://bucket/prefix")
    return FolderFiles(location)


def _table_files(location: str, place: LakeFiles) -> Iterator[LakeFile]:
    for name in place.names(DAILY_TABLES):
        *folders, base = name.split("/")
        if not folders:
            table = next((table for table in FLAT_TABLES if base.startswith(table)), None)
            if table:
                yield LakeFile(name, table, None)
        elif len(folders) == 2 and not base.startswith("."):
            yield LakeFile(name, folders[0], _partition_day(location, *folders))


def _partition_day(location: str, table: str, folder: str) -> date:
    match = _PARTITION.fullmatch(folder)
    try:
        return date.fromisoformat(match.group(1)) if match else date.fromisoformat("")
    except ValueError:
        raise LakeError(
            f"{location}/{table}/{folder}: the partition names no day; name it like day=2026-08-22"
        ) from None


def _newest_day(location: str, files: list[LakeFile]) -> date:
    days = [f.day for f in files if f.day]
    if not days:
        raise LakeError(f"lake {location} has no day=… partition: say with --as-of DAY which day the build speaks for")
    return max(days)


def _recipe(location: str, place: LakeFiles, needed: bool) -> tuple[dict | None, str]:
    path = f"{location}/{RECIPE_NAME}"
    if not needed:
        return None, ""
    data = place.read(RECIPE_NAME)
    if data is None:
        raise LakeError(f'fingerprints: {path} is missing; it must say {{"version": …, "image_url": "…{{key}}…"}}')
    try:
        recipe = json.loads(data)
        good = isinstance(recipe["version"], str) and "{key}" in recipe["image_url"]
    except (ValueError, KeyError, TypeError):
        good = False
    if not good:
        raise LakeError(f'{path}: must be JSON like {{"version": "…", "image_url": "…{{key}}…"}}, both of them text')
    return recipe, hashlib.sha256(data).hexdigest()
