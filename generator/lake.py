"""The lake: which files there are, by table and day, and what they contain.

A file's content is known by its SHA-256, cached by path, size and modification time, so that an unchanged lake
is recognised without reading it.
"""

import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from edge_auth.contract.copies import user_cache
from generator.errors import LakeError

FLAT_TABLES = ("expansions", "products", "watchlist", "fingerprints")
PRICE_TABLES = ("price_guide", "listings", "filtered_checks")
DAILY_TABLES = (*PRICE_TABLES, "watch_checks")
RECIPE_NAME = "fingerprints.json"
_PARTITION = re.compile(r"day=([0-9]{4}-[0-9]{2}-[0-9]{2})")
# A file that changed this recently may change again within the same tick of the file system's clock.
_SETTLED_NS = 2_000_000_000


@dataclass(frozen=True)
class LakeFile:
    """One file of a table: its place, the day of its partition (None: the table has none), its content."""

    path: str
    table: str
    day: date | None
    sha256: str = ""


@dataclass(frozen=True)
class Lake:
    """The files that a build reads, none later than the as-of day."""

    location: str
    as_of: date
    files: tuple[LakeFile, ...]
    recipe: dict | None
    recipe_sha256: str

    def of(self, table: str, first: date = date.min, last: date = date.max) -> list[LakeFile]:
        """Files of a table; of a daily table those of the days from `first` to `last`."""
        return [f for f in self.files if f.table == table and (f.day is None or first <= f.day <= last)]

    def content(self, *tables: str, first: date = date.min, last: date = date.max) -> list[str]:
        """What the tables are: the multiset of (table, day, content); names and order of files do not count."""
        files = (f for table in tables for f in self.of(table, first, last))
        return sorted(f"{f.table} {f.day or '-'} {f.sha256}" for f in files)


def open_lake(location: str, as_of: date | None = None) -> Lake:
    """Find and fingerprint the files of the lake.

    Args:
        location: a folder.
        as_of: the day the build speaks for; None for the newest partition.

    Raises:
        LakeError: no such folder, no products, a partition that names no day, no day to speak for, or a
            fingerprint recipe that is missing or wrong.
    """
    root = Path(location)
    if "://" in location:
        raise LakeError(f"lake {location}: only a folder can be a lake in this version")
    if not root.is_dir():
        raise LakeError(
            f"lake {location} is not a folder: make one with `cardpress demo {location}` or `cardpress ingest`"
        )
    files = [*_flat_files(root), *_daily_files(root)]
    if not any(f.table == "products" for f in files):
        raise LakeError(f"lake {location} has no products*.parquet, the one table that a build cannot do without")
    as_of = as_of or _newest_day(location, files)
    files = [f for f in files if f.day is None or f.day <= as_of]
    recipe, recipe_sha256 = _recipe(root, any(f.table == "fingerprints" for f in files))
    return Lake(location, as_of, tuple(_with_content(files)), recipe, recipe_sha256)


def _flat_files(root: Path) -> Iterator[LakeFile]:
    for path in sorted(root.glob("*.parquet")):
        table = next((table for table in FLAT_TABLES if path.name.startswith(table)), None)
        if table and path.is_file():
            yield LakeFile(str(path), table, None)


def _daily_files(root: Path) -> Iterator[LakeFile]:
    for table in DAILY_TABLES:
        for folder in sorted((root / table).glob("day=*")):
            day = _partition_day(folder)
            for path in sorted(folder.glob("*.parquet")):
                if not path.name.startswith("."):
                    yield LakeFile(str(path), table, day)


def _partition_day(folder: Path) -> date:
    match = _PARTITION.fullmatch(folder.name)
    try:
        return date.fromisoformat(match.group(1)) if match else date.fromisoformat("")
    except ValueError:
        raise LakeError(f"{folder}: the partition names no day; name it like day=2026-08-22") from None


def _newest_day(location: str, files: list[LakeFile]) -> date:
    days = [f.day for f in files if f.day]
    if not days:
        raise LakeError(f"lake {location} has no day=… partition: say with --as-of DAY which day the build speaks for")
    return max(days)


def _recipe(root: Path, needed: bool) -> tuple[dict | None, str]:
    path = root / RECIPE_NAME
    if not needed:
        return None, ""
    if not path.is_file():
        raise LakeError(f'fingerprints: {path} is missing; it must say {{"version": …, "image_url": "…{{key}}…"}}')
    data = path.read_bytes()
    try:
        recipe = json.loads(data)
        good = isinstance(recipe["version"], str) and "{key}" in recipe["image_url"]
    except (ValueError, KeyError, TypeError):
        good = False
    if not good:
        raise LakeError(f'{path}: must be JSON like {{"version": "…", "image_url": "…{{key}}…"}}, both of them text')
    return recipe, hashlib.sha256(data).hexdigest()


def _with_content(files: list[LakeFile]) -> Iterator[LakeFile]:
    cache = _HashCache()
    for file in files:
        yield replace(file, sha256=cache.sha256(Path(file.path)))
    cache.save()


class _HashCache:
    """SHA-256 of files seen before, in the user's cache folder; losing it costs only time."""

    def __init__(self) -> None:
        self.path = user_cache() / "hashes.json"
        self.known: dict[str, list] = {}
        self.seen: dict[str, list] = {}
        with suppress(OSError, ValueError):  # nothing remembered
            self.known = json.loads(self.path.read_bytes())

    def sha256(self, path: Path) -> str:
        """Digest of a file's content. Raises LakeError where it cannot be read."""
        try:
            stat = path.stat()
            state = [stat.st_size, stat.st_mtime_ns, stat.st_ino]
            name = str(path.resolve())
            remembered = self.known.get(name)
            if remembered and remembered[:3] == state:
                digest = remembered[3]
            else:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise LakeError(f"{path}: {error.strerror or error}") from error
        self.seen[name] = [*state, digest]
        return digest

    def save(self) -> None:
        """Remember what was seen, less what changed so recently that it may still change unnoticed."""
        latest = time.time_ns() - _SETTLED_NS
        settled = {name: entry for name, entry in self.seen.items() if entry[1] < latest}
        with suppress(OSError):  # not being able to remember is no reason to fail
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self.path.parent, delete=False) as file:
                json.dump(self.known | settled, file)
            os.replace(file.name, self.path)
