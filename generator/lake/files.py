"""The files of a lake in a folder or a bucket. Those in a bucket are copied into the user's cache when they are needed.

A file is identified by its name and its state: size, time of change and inode, or the ETag. Its SHA-256, which enters
the names of layers, comes from the store if the writer recorded it there. Otherwise the file is read and hashed once.
DuckDB reads local files. For builds and for the quarantine a day file is the same by its table, its day and its
content, whatever its name (`FileKey`).

All files of an import into a folder appear, or none, even if the process is killed. An import writes its files into
`.import/`, which no reader of tables opens, then `.import/journal.json` with their final paths. From that moment on the
import counts as done, and the files move to their paths. If the process is killed in between, the next import or build
moves the rest. Without a journal, `.import/` is deleted. A lock on the lake's folder, which the system releases when
its process ends, protects all this. It holds after a power cut, too: the files are on the disk before the journal names
them, and at their paths there before the journal is deleted. An empty file in `.import/` deletes the one at its path.
"""

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from threading import Lock, get_ident
from typing import NamedTuple, Self

from generator.errors import LakeError
from generator.storage.errors import StoreError
from generator.storage.stores import disk
from generator.storage.stores.file_cache import FileCache, user_cache
from generator.storage.stores.interface import Listed, Versioned
from generator.storage.stores.open import is_folder, open_store
from generator.terminal import Progress
from generator.threads import in_order

# The daily tables whose rows are of products, and so of games.
PRICE_TABLES = ("price_guide", "listings", "filtered_checks")
# The prices of a price guide. Each has a second column `<figure>_holo`.
PRICE_FIGURES = ("low", "avg", "trend", "avg1", "avg7", "avg30")
GUIDE_PRICES = [f"{figure}{finish}" for finish in ("", "_holo") for figure in PRICE_FIGURES]
DAY_FILES = "files"  # a file of the layers that list the day files of closed months
NO_GAME = ""  # in a `FileKey`, the products without a game
MAX_CACHE_BYTES = 16 << 30
THREADS = 8  # each may hold a file in memory
State = Sequence[int | str]

# A file that changed this recently may change again within the same tick of the file system's clock.
_SETTLED_NS = 2_000_000_000
# How many hashes are kept. Enough for ten years of three daily tables, several times over.
_MAX_ENTRIES = 50_000
_Listing = dict[str, Listed]  # by name
STAGE = ".import"
# Beside the names that begin with `.` or `_`: what systems leave in folders, in small letters, and unfinished files.
_OF_SYSTEMS = frozenset(
    {"desktop.ini", "thumbs.db", "ehthumbs.db", "icon\r", "lost+found", "@eadir", "#recycle", "$recycle.bin"}
)
_UNFINISHED = (".tmp", ".temp", ".part", ".partial", ".crdownload")
JOURNAL = "journal.json"


class FileKey(NamedTuple):
    """What makes a day file the same: table, day (YYYY-MM-DD), content; of one game's rows the game or `NO_GAME`."""

    table: str
    day: str
    sha256: str
    game: str | None = None

    @property
    def whole(self) -> Self:
        """The file with all its rows."""
        return self._replace(game=None)


@dataclass(frozen=True)
class LakeFile:
    """One file of a table."""

    name: str  # path within the lake, with `/`
    table: str
    day: date | None  # None for a table without partitions
    sha256: str = ""  # set by `LakeFiles.with_hashes`
    path: str = ""  # local, perhaps only after `LakeFiles.fetch`
    size: int = 0
    held: tuple[int, ...] = field(default=(), repr=False)  # sorted ids of products in quarantine: left out

    @property
    def key(self) -> FileKey:
        """What makes it the same day file, with all its rows."""
        return FileKey(self.table, str(self.day), self.sha256)

    @cached_property
    def identity(self) -> str:
        """What identifies the rows that readers see: the hash of the content, and of the ids that are left out."""
        if not self.held:
            return self.sha256
        return hashlib.sha256(f"{self.sha256} without {','.join(map(str, self.held))}".encode()).hexdigest()


class FileHashes:
    """Hashes by name and state of the file. `save` writes them to the cache folder."""

    def __init__(self) -> None:
        self.path = user_cache() / "hashes.json"
        self._stored: dict[str, list[int | str]] = {}  # state and hash, by name
        self._used: dict[str, list[int | str]] = {}
        with suppress(OSError, ValueError):  # an absent or broken cache is empty
            self._stored = json.loads(self.path.read_bytes())

    def find(self, name: str, state: State) -> str | None:
        """Return the hash of a file in this state, if it is known."""
        entry = self._stored.get(name)
        if not entry or entry[:-1] != list(state):
            return None
        self._used[name] = entry
        return str(entry[-1])

    def add(self, name: str, state: State, sha256: str) -> None:
        """Add the hash of a file in this state."""
        self._used[name] = [*state, sha256]

    def of_file(self, path: str) -> str:
        """Return the hash of a local file, which is found by its path. Raise OSError if the file cannot be read."""
        stat = os.stat(path)  # noqa: PTH116  (a lake has thousands of files)
        state = [stat.st_size, stat.st_mtime_ns, stat.st_ino]
        sha256 = self.find(path, state)
        if sha256 is None:
            with Path(path).open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            if stat.st_mtime_ns < time.time_ns() - _SETTLED_NS:
                self.add(path, state, sha256)
        return sha256

    def save(self) -> None:
        """Write all hashes that were found or added, and as many of the others as there is room for."""
        if all(self._stored.get(name) == entry for name, entry in self._used.items()):
            return
        others = {name: entry for name, entry in self._stored.items() if name not in self._used}
        newest = dict(list((others | self._used).items())[-max(_MAX_ENTRIES, len(self._used)) :])
        with suppress(OSError):  # without a cache everything still works
            self.path.parent.mkdir(parents=True, exist_ok=True)
            disk.replace_file(self.path, [json.dumps(newest).encode()], mode=0o600)  # ten times as fast as json.dump


class LakeFiles:
    """The files of a lake. The cache holds about MAX_CACHE_BYTES. Files in use stay in it even beyond that."""

    def __init__(self, location: str, listing: _Listing | None = None):
        if is_folder(location) and not Path(location).is_dir():
            raise LakeError(
                f"lake {location} is not a folder: make one with `cardpress demo {location}` or `cardpress ingest`"
            )
        try:
            self._store = open_store(location, what="lake")
        except StoreError as error:
            raise LakeError(str(error)) from error
        self._root = location if is_folder(location) else ""
        self._hashes = FileHashes()
        self._cache = FileCache(user_cache() / "lake", MAX_CACHE_BYTES, hash_of=self._hashes.of_file)
        self._listing = listing or {}
        self._read: dict[tuple[int, str], list[LakeFile]] = {}  # by thread and table
        self._fetching = Lock()

    def read_lock(self) -> AbstractContextManager[None]:
        """Keep imports out while files are listed and hashed."""
        # A bucket has no locks. A download fails if the file has changed since it was listed.
        return read_lock(Path(self._root)) if self._root else nullcontext()

    def list_names(self, daily: Iterable[str]) -> Iterator[str]:
        """List what lies at the top of the lake, folders with a slash, and all files below those of the daily tables.

        What systems and programs leave beside files is left out.
        """
        with _as_lake_errors():
            found = list(self._store.entries("", deep=False))
            for table in daily:
                found += self._store.entries(f"{table}/")
        self._listing = {file.name: file for file in found if not any(map(_is_of_systems, file.name.split("/")))}
        return iter(sorted(self._listing, key=lambda name: name.split("/")))

    @property
    def names(self) -> list[str]:
        """The names that were listed."""
        return list(self._listing)

    def modified(self, name: str) -> float:
        """Return when a listed file was written, in Unix time."""
        return self._listing[name].modified

    def with_hashes(self, files: list[LakeFile], progress: Progress) -> Iterator[LakeFile]:
        """Yield the files in the same order, with their hashes, sizes and paths."""
        if self._root:
            yield from self._with_local_hashes(files)
        else:
            with ThreadPoolExecutor(THREADS) as pool, progress.bar("lake", len(files)) as bar:
                for file in in_order(pool, 2 * THREADS, self._with_hash, files):
                    bar.update(1)
                    yield file
        self._hashes.save()

    def fetch(self, table: str, files: list[LakeFile]) -> list[LakeFile]:
        """Copy these files to their local paths. They stay there until other files of the same table are fetched."""
        if self._root:
            self._read[get_ident(), table] = files
            return files
        files = [self._at_copy(file) for file in files]  # another machine may have hashed them
        with self._fetching, ThreadPoolExecutor(THREADS) as pool:
            # A view of the thread's database may still read the files of the last fetch.
            self._cache.hold((get_ident(), table), {file.sha256 for file in files})
            cached = pool.map(lambda file: self._cache.has(file.sha256, file.name), files)
            missing = [file for file, is_cached in zip(files, cached, strict=True) if not is_cached]
            for _ in in_order(pool, THREADS, self._download, missing):
                pass
            self._hashes.save()
        return files

    def check_unchanged(self, files: Iterable[LakeFile] | None = None) -> None:
        """Raise LakeError if a file, or one that this thread fetched last, has changed since it was listed."""
        if files is None:
            files = [file for (thread, _), read in self._read.items() if thread == get_ident() for file in read]
        for name in (file.name for file in files if self._root):
            if next(self._store.entries(name), None) != self._listing[name]:
                raise LakeError(f"{self._root}/{name} changed while the lake was being read: build again")

    def __reduce__(self) -> tuple[type["LakeFiles"], tuple[str, _Listing]]:
        """Pickle only the location and the listing, for another process."""
        return LakeFiles, (self._root or self._store.location, self._listing)

    def _with_local_hashes(self, files: list[LakeFile]) -> Iterator[LakeFile]:
        for file in files:
            path = f"{self._root}/{file.name}"
            try:
                sha256 = self._hashes.of_file(f"{self._store.location}/{file.name}")
            except OSError as error:
                raise LakeError(f"{path}: {error.strerror or error}") from error
            yield replace(file, sha256=sha256, path=path, size=self._listing[file.name].size)

    def _with_hash(self, file: LakeFile) -> LakeFile:
        listed, name = self._listing[file.name], f"{self._store.location}/{file.name}"
        state = (listed.size, listed.state)
        sha256 = self._hashes.find(name, state)
        if not sha256:
            with _as_lake_errors():
                recorded = self._store.digest(listed.name)  # the SHA-256 that the bucket stores with this version
            is_same = recorded is not None and recorded.state == listed.state
            sha256 = recorded.sha256 if recorded and is_same else self._download(file)
        self._hashes.add(name, state, sha256)
        return self._at_copy(replace(file, sha256=sha256, size=listed.size))

    def _at_copy(self, file: LakeFile) -> LakeFile:
        return replace(file, path=os.fspath(self._cache.place(file.sha256, file.name)))

    def _download(self, file: LakeFile) -> str:
        found, where = self.read(file.name), f"{file.name} in {self._store.location}"
        if found is None or found.etag != self._listing[file.name].state:
            raise LakeError(f"{where} has changed: the lake was written to while it was read")
        sha256 = hashlib.sha256(found.data).hexdigest()
        if file.sha256 not in ("", sha256):
            raise LakeError(f"{where} does not have the SHA-256 that is stored with it")
        with _as_lake_errors():
            self._cache.add(sha256, [found.data], file.name)
        return sha256

    def read(self, name: str) -> Versioned | None:
        """Return a file that is small or a table, None if it does not exist."""
        with _as_lake_errors():
            return self._store.get_versioned(name, most=None)


def _is_of_systems(part: str) -> bool:
    return part.startswith((".", "_")) or part.lower() in _OF_SYSTEMS or part.lower().endswith(_UNFINISHED)


@contextmanager
def _as_lake_errors() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise LakeError(f"lake: {error}") from error


def hashes_by_day(files: Iterable[LakeFile]) -> dict[str, list[str]]:
    """Return the sorted hashes of the files of each day; of a file without the rows of a game its identity."""
    days: dict[str, list[str]] = {}
    for file in sorted((file for file in files if file.day), key=lambda file: (str(file.day), file.identity)):
        days.setdefault(str(file.day), []).append(file.identity)
    return days


@contextmanager
def write_lock(folder: Path) -> Iterator[None]:
    """Keep other imports and builds out of the lake, after an interrupted import is completed."""
    with _locked(folder, fcntl.LOCK_EX):
        _finish(folder)
        yield


@contextmanager
def read_lock(folder: Path) -> Iterator[None]:
    """Keep imports out of the lake, after an interrupted import is completed. Other readers may enter."""
    with _locked(folder, fcntl.LOCK_SH) as handle:
        if (folder / STAGE / JOURNAL).exists():
            fcntl.flock(handle, fcntl.LOCK_EX)
            try:
                _finish(folder)
            except (OSError, StoreError) as error:
                raise LakeError(f"lake {folder}: an interrupted import cannot be finished: {error}") from error
        yield


def write_together(folder: Path, files: Mapping[str, disk.Writable]) -> None:
    """Write files, named by their paths within the folder, or delete empty ones: all or none. Requires `write_lock`."""
    if not files:
        return
    try:
        _stage(folder, files)
    except BaseException:
        shutil.rmtree(folder / STAGE, ignore_errors=True)
        raise
    _finish(folder)


def _stage(folder: Path, files: Mapping[str, disk.Writable]) -> None:
    stage = folder / STAGE
    disk.make_folder(stage)
    for number, (name, data) in enumerate(files.items()):
        place = folder / name
        disk.make_folder(place.parent, 0o755)  # if this is refused, it is before the journal
        (stage / str(number)).write_bytes(data)
        disk.take_after(stage / str(number), place if place.exists() else place.parent, 0o644)
    with disk.written_beside(stage / JOURNAL, [json.dumps(list(files)).encode()]) as unfinished:
        disk.sync_file_system(folder)
        os.replace(unfinished, stage / JOURNAL)
    disk.sync_path(stage)


def _finish(folder: Path) -> None:
    """Move the files of the journal that are not at their paths yet, then delete `.import/`."""
    stage = folder / STAGE
    journal = stage / JOURNAL
    if journal.exists():
        for number, name in enumerate(json.loads(journal.read_bytes())):
            staged = stage / str(number)
            if staged.exists() and not staged.stat().st_size:
                open_store(os.fspath(folder)).delete([name])  # and the folders that are then empty
            elif staged.exists():
                disk.make_folder((folder / name).parent, 0o755)
                staged.replace(folder / name)
        disk.sync_file_system(folder)
        journal.unlink()
    if stage.exists():
        shutil.rmtree(stage)


@contextmanager
def _locked(folder: Path, operation: int) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, operation)
        except OSError as error:
            if operation == fcntl.LOCK_EX or error.errno not in disk.UNSUPPORTED:
                raise OSError(error.errno, f"cannot be locked: {error.strerror}", os.fspath(folder)) from error
            # A reader on a disk without locks sees a file that is replaced meanwhile by its change.
        yield handle
    finally:
        os.close(handle)
