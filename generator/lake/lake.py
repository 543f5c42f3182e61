"""The lake: lists its files by table and day, with the hashes of their contents."""

import hashlib
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from generator.database import Database
from generator.errors import LakeError
from generator.lake.files import PRICE_TABLES, FileKey, LakeFile, LakeFiles
from generator.lake.tables import open_table
from generator.lake.words import WORDS_NAME, parse_words, usual_words
from generator.storage.stores.interface import Versioned
from generator.storage.stores.open import is_folder
from generator.terminal import Progress
from generator.threads import ONE_THREAD

FLAT_TABLES = ("expansions", "products", "watchlist", "fingerprints", "identifiers")
DAILY_TABLES = (*PRICE_TABLES, "watch_checks")
RECIPE_NAME = "fingerprints.json"
FIRST_YEAR = 1000  # names of files and arithmetic of days need four digits
IMPORTS_NAME = "imports.json"  # what imports remember
DEMO_NAME = "demo.json"  # marks a lake as a demo
PAGES_TABLE = "list_pages"  # what imports store of list pages
_SUFFIX = ".parquet"
_MOST_SAID = 10
_PARTITION = re.compile(r"day=([1-9][0-9]{3}-[0-9]{2}-[0-9]{2})")


def games_left_out(file: LakeFile, left_out: Collection[FileKey]) -> list[str]:
    """Return the games whose rows of a file are left out, sorted."""
    return sorted(key.game for key in left_out if key.game is not None and key.whole == file.key)


def without_games(files: list[LakeFile], backend: LakeFiles, left_out: Collection[FileKey]) -> list[LakeFile]:
    """Return the files of a lake, each with the ids of the products whose rows are left out."""
    games = {file.name: games for file in files if (games := games_left_out(file, left_out))}
    if not games:
        return files
    database = Database(ONE_THREAD)
    try:
        for table in ("products", "expansions"):
            open_table(database, table, backend.fetch(table, [file for file in files if file.table == table]))
        return [
            replace(file, held=tuple(_held(database, backend, file, games[file.name]))) if file.name in games else file
            for file in files
        ]
    finally:
        database.close()


def _held(database: Database, backend: LakeFiles, file: LakeFile, games: Iterable[str]) -> list[int]:
    """Return the ids in a file that belong to games, ascending."""
    assert file.table in PRICE_TABLES, f"rows of {file.table} are of no game"
    open_table(database, file.table, backend.fetch(file.table, [file]))
    database.set(games=list(games))
    found: list[int] = database.answer("sources/products_of_games", table=file.table)["id_product"].to_pylist()
    return found


@dataclass(frozen=True)
class Lake:
    """The files that a build reads, none later than the as-of day. `quarantined` is what it would also read."""

    location: str
    as_of: date
    files: tuple[LakeFile, ...]
    recipe: dict[str, Any] | None
    recipe_sha256: str
    backend: LakeFiles = field(repr=False, compare=False)
    quarantined: tuple[dict[str, str], ...] = ()  # as in the record; `read_as`: the identity of what is read instead
    words: Mapping[str, str] = field(default_factory=usual_words)  # by what people say, what names say instead
    words_sha256: str = ""  # of the lake's own file of words

    def files_of(self, table: str, first: date = date.min, last: date = date.max) -> list[LakeFile]:
        """Return the files of a table. Of a daily table, only the days from `first` to `last`."""
        return [f for f in self._files_by_table.get(table, ()) if f.day is None or first <= f.day <= last]

    @cached_property
    def _files_by_table(self) -> dict[str, list[LakeFile]]:
        files: dict[str, list[LakeFile]] = {}
        for file in self.files:
            files.setdefault(file.table, []).append(file)
        return files

    def with_days(self, days: Collection[date]) -> "Lake":
        """Return the lake with only these days of its daily tables."""
        return replace(self, files=tuple(f for f in self.files if f.day is None or f.day in days))

    def fetch(self, table: str, first: date = date.min, last: date = date.max) -> list[LakeFile]:
        """Return the same files, each at its local path until the next fetch of this table."""
        return self.backend.fetch(table, self.files_of(table, first, last))

    def content(self, *tables: str, first: date = date.min, last: date = date.max) -> list[str]:
        """Return what identifies the content of these tables: sorted lines of table, day and hash of each file."""
        files = (f for table in tables for f in self.files_of(table, first, last))
        return sorted(f"{f.table} {f.day or '-'} {f.identity}" for f in files)


def not_read(names: Iterable[str]) -> list[str]:
    """Return a line for each name at the top of a lake that nothing reads, with the table that is perhaps meant."""
    found = [name for name in names if "/" not in name[:-1] and not _is_read(name)]
    lines = [f"{name} is not read{_meant(name)}" for name in found[:_MOST_SAID]]
    return lines + ([f"{len(found) - _MOST_SAID:,} more are not read"] if len(found) > _MOST_SAID else [])


def _is_read(name: str) -> bool:
    if name.endswith("/"):
        return name[:-1] in DAILY_TABLES
    if name in (RECIPE_NAME, WORDS_NAME, IMPORTS_NAME, DEMO_NAME):
        return True
    return name.startswith((*FLAT_TABLES, PAGES_TABLE)) and name.endswith(_SUFFIX)


def _meant(name: str) -> str:
    stem = re.split("[.=/]", name.lower().replace("-", "_"))[0]
    near = [table for table in (*FLAT_TABLES, *DAILY_TABLES) if stem.startswith(table)]
    for table in near or get_close_matches(stem, (*FLAT_TABLES, *DAILY_TABLES), n=1):
        place = f"{table}*{_SUFFIX}" if table in FLAT_TABLES else f"{table}/day=YYYY-MM-DD/*{_SUFFIX}"
        return f": the table {table} is {place}"
    return ""


def absolute(location: str) -> str:
    """Return a lake's location with an absolute path if it is a folder."""
    return os.fspath(Path(location).absolute()) if is_folder(location) else location


def open_lake(
    location: str,
    as_of: date | None = None,
    progress: Progress | None = None,
    left_out: Collection[FileKey] = (),
) -> Lake:
    """List and hash the files of a lake up to the as-of day or the newest partition, but for those left out."""
    backend, progress = LakeFiles(location), progress or Progress(quiet=True)
    with backend.read_lock():
        files = list(table_files(location, backend))
        for line in not_read(backend.names):
            progress.say(f"{location}/{line}")
        earlier = [f for f in files if as_of is None or (f.day and f.day <= as_of)]
        days = {(key.table, key.day) for key in left_out}
        suspects = [f for f in earlier if (f.table, str(f.day)) in days]  # only they are hashed so early
        hashed = backend.with_hashes(suspects, progress) if suspects else ()
        skipped = [f for f in hashed if f.key in left_out]
        names = {f.name for f in skipped}
        files = [f for f in files if f.name not in names]
        as_of = _checked_day(location, files, as_of)
        files = [f for f in files if f.day is None or f.day <= as_of]
        recipe, recipe_sha256 = None, ""
        if any(f.table == "fingerprints" for f in files):
            recipe, recipe_sha256 = _recipe(f"{location}/{RECIPE_NAME}", backend.read(RECIPE_NAME))
        files = without_games(list(backend.with_hashes(files, progress)), backend, left_out)
        gone = [_named(f) for f in skipped]
        gone += [_named(f) | {"game": g, "read_as": f.identity} for f in files for g in games_left_out(f, left_out)]
        own = backend.read(WORDS_NAME)
    words = parse_words(f"{location}/{WORDS_NAME}", own.data) if own else usual_words()
    words_sha256 = hashlib.sha256(own.data).hexdigest() if own else ""
    return Lake(location, as_of, tuple(files), recipe, recipe_sha256, backend, tuple(gone), words, words_sha256)


def _named(file: LakeFile) -> dict[str, str]:
    return {"table": file.table, "day": str(file.day), "sha256": file.sha256}


def _checked_day(location: str, files: Collection[LakeFile], as_of: date | None) -> date:
    """Return the as-of day, or else the newest one. Raise LakeError for a lake or a day that no build can be of."""
    if not any(f.table == "products" for f in files):
        raise LakeError(f"lake {location} has no products*.parquet, the one table that a build cannot do without")
    newest = max((f.day for f in files if f.day), default=None)
    if (as_of := as_of or newest) is None:
        raise LakeError(
            f"lake {location} has no day=… partition: import prices, or name the day with `cardpress build --as-of DAY`"
        )
    if as_of.year < FIRST_YEAR:
        raise LakeError(f"the as-of day {as_of} is before the year {FIRST_YEAR}: name another one with --as-of")
    return as_of


def table_files(location: str, backend: LakeFiles) -> Iterator[LakeFile]:
    """List the files of the tables, without reading them. An interrupted import is not completed."""
    for name in backend.list_names(DAILY_TABLES):
        *folders, base = name.split("/")
        if not folders:
            table = next((table for table in FLAT_TABLES if base.startswith(table) and base.endswith(_SUFFIX)), None)
            if table:
                yield LakeFile(_as_text(location, name), table, None)
        elif base.endswith(_SUFFIX):
            yield LakeFile(_as_text(location, name), folders[0], _partition_day(location, *folders))
        elif base:
            raise LakeError(
                f"{location}/{name}: no row of it would be read: the files of a table end in {_SUFFIX}; rename it, "
                "or move it away (names that begin with . or _ are left alone)"
            )


def _as_text(location: str, name: str) -> str:
    """Return a name that can be text: neither Arrow nor DuckDB opens another one."""
    path = f"{location}/{name}"
    try:
        path.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode(errors="backslashreplace")
        raise LakeError(f"{shown}: the name of the file is no UTF-8; give it another one") from None
    return name


def _partition_day(location: str, table: str, *folders: str) -> date:
    where = "/".join((location, table, *folders))
    if len(folders) != 1:
        raise LakeError(
            f"{where}: Parquet files lie directly in a folder for each day; name it like {table}/day=2026-08-22"
        )
    match = _PARTITION.fullmatch(folders[0])
    try:
        return date.fromisoformat(match.group(1) if match else "")
    except ValueError:
        raise LakeError(f"{where}: the partition names no day; name it like day=2026-08-22") from None


def _recipe(path: str, found: Versioned | None) -> tuple[dict[str, Any], str]:
    if found is None:
        raise LakeError(f'fingerprints: {path} is missing; it must say {{"version": …, "image_url": "…{{key}}…"}}')
    recipe = parse_recipe(found.data)
    if recipe is None:
        raise LakeError(f'{path}: must be JSON like {{"version": "…", "image_url": "…{{key}}…"}}, both of them text')
    return recipe, hashlib.sha256(found.data).hexdigest()


def parse_recipe(data: bytes) -> dict[str, Any] | None:
    """Parse the content of `fingerprints.json`. Return None if it is not in its shape."""
    try:
        recipe: dict[str, Any] = json.loads(data)
        valid = isinstance(recipe["version"], str) and "{key}" in recipe["image_url"]
    except (ValueError, KeyError, TypeError):
        return None
    return recipe if valid else None
