"""Writes a build as a tree of plain files, one per object, into a folder or a bucket, and keeps the tree up to date.

    api/v1/…                  the documents and the bulk files, under the paths of the API
    docs/…, explore/…         the site's files
    .cardpress-export.json    the record of the tree: its build, and every file with a hash

Names are claimed in the record before a file is written, and every file is put in place whole. So a run that was killed
leaves only files that the next run knows as its own, and a file that is not in the record is never touched.

What cannot be read raises StoreError, what cannot be written, or is no tree, ExportError. An export reads a build from
end to end. `ReadAhead` reads its packs in blocks of 4 MB.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Any, NamedTuple, Self, TypeVar

from generator.errors import ExportError
from generator.storage import layout
from generator.storage.builds import Build
from generator.storage.bulk import LIVE_CATALOGUE
from generator.storage.errors import Conflict
from generator.storage.objects import API_FOLDER
from generator.storage.stores.codec import decompress
from generator.storage.stores.disk import FOLDER_OF_THE_FILE_SYSTEM, make_folder, replace_file
from generator.storage.stores.interface import Store, parse_json
from generator.storage.stores.open import is_folder, open_store
from generator.storage.stores.remedies import with_remedy
from generator.terminal import Progress, ProgressBar
from generator.threads import in_order
from generator.tree.documents import NAMING_BUILD, Documents, TreeBody, TreeDocument

BLOCK_BYTES = 4 << 20  # of a pack that is read ahead
_MAX_BLOCKS = 64
_THREADS = 16  # of a bucket
_SECONDS_BETWEEN_RECORDS = 30.0


_Input = TypeVar("_Input")
_Result = TypeVar("_Result")

RECORD = ".cardpress-export.json"
_MODE = 0o644  # as of every file of a tree
_FORMAT = 1
GZIP_SUFFIX = ".gz"
_CACHE_CONTROL = "no-cache"  # a reader asks whether its copy is current
_FILE_CACHE_CONTROL = "public, max-age=31536000, immutable"  # its name is made from its content
_BUSY = "another export is writing to {}: wait until it has ended"


class TreeFile(NamedTuple):
    """A file of a tree."""

    size: int  # as it is stored
    tag: str  # of what the document is made from, known without reading it
    digest: str  # of the content


@dataclass(frozen=True)
class TreeRecord:
    """What an export wrote."""

    build: str | None = None  # while an export runs, and after it was killed, the build before
    files: dict[str, TreeFile | None] = field(default_factory=dict)  # None for one that may be half written
    objects: str = ""  # of the tree in a store, which of the objects it has

    def to_bytes(self) -> bytes:
        """Return the record as it is stored. To put each file on a line would take five times as long."""
        objects = {"objects": self.objects} if self.objects else {}
        fields = {"format": _FORMAT, "build": self.build} | objects | {"files": dict(sorted(self.files.items()))}
        return json.dumps(fields).encode() + b"\n"

    @staticmethod
    def from_bytes(data: bytes, location: str) -> "TreeRecord":
        """Parse a stored record."""
        try:
            fields = parse_json(data)
            if fields["format"] != _FORMAT:
                raise ExportError(f"{RECORD} in {location} was written by a newer version: export to another place")
            files = {name: file and TreeFile(*file) for name, file in fields["files"].items()}
            if fields.get("plain"):  # by an earlier version: every object of the bucket is written again
                files = dict.fromkeys(files)
            return TreeRecord(fields["build"], files, fields.get("objects", ""))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ExportError(f"{RECORD} in {location} is not a record of an export: {error}") from error


class ExportResult(NamedTuple):
    """What an export did: the objects of the tree, and how many files it wrote and deleted."""

    objects: int
    written: int
    deleted: int


def export(build: Build, location: str, *, gzip: bool, progress: Progress) -> ExportResult:
    """Bring the tree at a location to the state of a build. Only files that changed are written.

    Args:
        gzip: Also write a `.gz` beside each file of a folder but the bulk files, for hosts that serve compressed files.
    """
    documents = Documents(build)
    with Target(location) as target:
        return TreeWriter(build.id, documents, list(documents), target, gzip=gzip, progress=progress).run()


class Target:
    """A tree. It is a context in which no other export writes to it.

    A folder is locked. In a bucket the record is written by compare-and-swap, which notices another export.
    """

    def __init__(self, location: str):
        if is_folder(location) and Path(location).exists() and not Path(location).is_dir():
            raise ExportError(f"{location} is a file: name the folder of the tree, or a new one")
        self.store = open_store(location, what="tree")
        self._folder = self.store.local_path("")
        self.location = location if self._folder else self.store.location
        self._record: bytes | None = None
        self._etag: str | None = None
        self._lock = -1

    def __enter__(self) -> Self:
        if self._folder:
            with _translated_errors():
                make_folder(self._folder)
                self._lock = os.open(self._folder, os.O_RDONLY)
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ExportError(_BUSY.format(self.location)) from error
            except OSError as error:
                raise ExportError(with_remedy(f"{self.location} cannot be locked: {error.strerror}", error)) from error
        self.store.delete(file.name for file in self.store.leftovers())
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder:
            os.close(self._lock)

    def in_order(self, work: Callable[[_Input], _Result], inputs: Iterable[_Input]) -> Iterator[_Result]:
        """Yield `work(input)` in input order, of a bucket several at once. On a disk, threads wait for each other."""
        if self._folder:
            yield from map(work, inputs)
            return
        with ThreadPoolExecutor(_THREADS) as pool:
            yield from in_order(pool, 2 * _THREADS, work, inputs)

    def suffixes(self, gzip: bool) -> tuple[str, ...]:
        """Return what is appended to the name of a document, for each of its files."""
        if gzip and not self._folder:
            raise ExportError("--gzip is for folders: the objects of a bucket are compressed without it")
        return ("", GZIP_SUFFIX) if gzip else ("",)

    def files(self) -> dict[str, int]:
        """Return the size in bytes of every file but the record, by name; -1 for what is no file.

        The name of an empty folder ends in a slash.
        """
        if self._folder:
            with _translated_errors():
                found = dict(_walk(self._folder, ""))
        else:
            found = {file.name: file.size for file in self.store.entries("")}
        return {name: size for name, size in found.items() if name != RECORD}

    def read_record(self) -> TreeRecord | None:
        """Return the record, or None."""
        found = self.store.get_versioned(RECORD, most=None)
        if found is None:
            return None
        self._record, self._etag = found.data, found.etag
        return TreeRecord.from_bytes(found.data, self.location)

    def write_record(self, record: TreeRecord) -> None:
        """Replace the record, if it differs."""
        data = record.to_bytes()
        if data == self._record:
            return
        if self._folder:
            self.store.sync()  # a record that outlives a power cut names no file that does not
            with _translated_errors():
                replace_file(self._folder / RECORD, [data], mode=_MODE, durable=True)
        else:
            try:
                self.store.swap(RECORD, data, self._etag)
            except Conflict as error:
                raise ExportError(_BUSY.format(self.location)) from error
            found = self.store.get_versioned(RECORD, most=None)
            if found is None or found.data != data:
                raise ExportError(_BUSY.format(self.location))
            self._etag = found.etag
        self._record = data

    def write(self, name: str, body: TreeBody, suffix: str) -> int:
        """Write a file whole, so that a reader sees the old bytes or the new ones. Return its size in bytes.

        The objects of a bucket are compressed, the files of a folder if they have the suffix.
        """
        headers = {"ContentType": body.media_type, "CacheControl": _CACHE_CONTROL}
        if body.read_file:
            data = body.plain
            if not name.endswith(f"/{LIVE_CATALOGUE}"):  # the next build has another under this name
                headers["CacheControl"] = _FILE_CACHE_CONTROL
        elif suffix or not self._folder:
            data, headers["ContentEncoding"] = body.member, "gzip"
        else:
            data = body.plain
        self.store.put(name, data, headers)
        return len(data)

    def read(self, name: str) -> bytes:
        """Return the content of a file. A damaged object of a bucket is returned as it is stored."""
        data = self.store.get(name)
        if not self._folder and not name.startswith(f"{API_FOLDER}/{layout.BULK}/"):
            with suppress(OSError):
                return decompress(data)
        return data


class TreeWriter:
    """One run over a tree: it plans, claims names in the record, writes, deletes, records."""

    def __init__(
        self,
        build: str,
        documents: Documents,
        wanted: Sequence[TreeDocument],
        target: Target,
        *,
        gzip: bool = False,
        objects: str = "",
        progress: Progress,
    ):
        self._build, self._documents, self._wanted, self._target = build, documents, wanted, target
        self._objects, self._progress = objects, progress
        self._suffixes = target.suffixes(gzip)
        self._present = target.files()
        record = target.read_record()
        if record is None and self._present:
            raise ExportError(
                f"{target.location} is not an empty folder and has no record of an export: "
                "export writes into a new folder, or into a tree that it wrote"
            )
        self._old = record or TreeRecord()
        self._files: dict[str, TreeFile | None] = {}
        self._large = Lock()  # bulk files are in memory as a whole, so one at a time

    def run(self) -> ExportResult:
        """Write, then delete, then record."""
        names = {name for document in self._wanted for name in self._names(document)}
        self._check_foreign(names)
        changed = [document for document in self._wanted if not self._is_unchanged(document)]
        gone = sorted(self._old.files.keys() - names)
        self._files = self._old.files | dict.fromkeys(name for document in changed for name in self._names(document))
        if changed or gone:
            self._write_record(complete=False)
        written = self._write(changed)
        self._target.store.delete([name for name in gone if name in self._present])
        self._files = {name: self._files[name] for name in names}
        self._write_record(complete=True)
        return ExportResult(len(self._wanted), written, len(gone))

    def _names(self, document: TreeDocument) -> dict[str, str]:
        """Return the names of the files of a document, and what is appended in each."""
        return {document.name + suffix: suffix for suffix in (("",) if document.bulk_file else self._suffixes)}

    def _check_foreign(self, names: set[str]) -> None:
        """Refuse a target where a file that no export wrote has the name of a file or a folder of the tree."""
        foreign = self._present.keys() - self._old.files.keys()
        if not foreign:
            return
        folders = {str(folder) for name in names for folder in PurePosixPath(name).parents}
        in_the_way = {
            name
            for name, path in ((name, PurePosixPath(name)) for name in foreign)
            if name in folders or any(str(part) in names for part in (path, *path.parents))
        }
        if in_the_way:
            raise ExportError(
                f"{min(in_the_way)} in {self._target.location} stands in the way, and no export wrote it: "
                "move it, or export to another place"
            )

    def _is_unchanged(self, document: TreeDocument) -> bool:
        """Return whether record and size show that a document need not be read."""
        files = map(self._intact, self._names(document))
        return all(file is not None and file.tag == document.tag for file in files)

    def _intact(self, name: str) -> TreeFile | None:
        """Return what the record says of a file, if the file is there with its size."""
        file = self._old.files.get(name)
        return file if file is not None and self._present.get(name) == file.size else None

    def _write(self, documents: list[TreeDocument]) -> int:
        """Write documents, and those that name the build when all others are there. Count the files."""
        phases = [[one for one in documents if (one.key in NAMING_BUILD) is last] for last in (False, True)]
        with self._progress.bar("tree" if self._objects else "export", len(documents)) as bar:
            return sum(self._write_phase(bar, phase) for phase in phases)

    def _write_phase(self, bar: ProgressBar, documents: list[TreeDocument]) -> int:
        written, saved_at = 0, time.monotonic()
        bodies = ((document, self._documents.body(document)) for document in documents)
        for files, count in self._target.in_order(lambda item: self._write_one(*item), bodies):
            self._files |= files
            written += count
            bar.update(1)
            if time.monotonic() > saved_at + _SECONDS_BETWEEN_RECORDS:
                self._write_record(complete=False)
                saved_at = time.monotonic()
        return written

    def _write_one(self, document: TreeDocument, body: TreeBody) -> tuple[dict[str, TreeFile], int]:
        """Write the files of a document, unless they have its content. Return what to record, and how many it wrote."""
        files, written = {}, 0
        for name, suffix in self._names(document).items():
            file = self._intact(name)
            if file is None or file.digest != body.digest:
                with self._large if body.read_file else nullcontext():
                    size = self._target.write(name, body, suffix)
                file, written = TreeFile(size, document.tag, body.digest), written + 1
            files[name] = file._replace(tag=document.tag)
        return files, written

    def _write_record(self, *, complete: bool) -> None:
        record = TreeRecord(self._build if complete else self._old.build, self._files, self._objects)
        self._target.write_record(record)


class ReadAhead:
    """A store for sequential readers: it reads ranges from cached blocks. All other methods are the store's own."""

    def __init__(self, store: Store):
        self._store = store
        self._size = lru_cache(store.stat)
        self._block = lru_cache(_MAX_BLOCKS)(self._read_block)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Return an object, or `length` bytes of it from `offset`; raises what the store raises."""
        if not length or offset + length > (self._size(name) or 0):
            return self._store.get(name, offset, length)
        first, last = offset // BLOCK_BYTES, (offset + length - 1) // BLOCK_BYTES
        data = b"".join(self._block(name, number) for number in range(first, last + 1))
        start = offset - first * BLOCK_BYTES
        return data[start : start + length]

    def _read_block(self, name: str, number: int) -> bytes:
        start = number * BLOCK_BYTES
        return self._store.get(name, start, min(BLOCK_BYTES, (self._size(name) or 0) - start))


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, int]]:
    """Yield the files below a folder with their sizes. Links are not followed."""
    with os.scandir(folder) as entries:
        found = list(entries)
    if not found and prefix:
        yield prefix, -1
    for entry in found:
        name = prefix + entry.name
        if name == FOLDER_OF_THE_FILE_SYSTEM:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path), f"{name}/")
        else:
            yield name, entry.stat(follow_symlinks=False).st_size if entry.is_file(follow_symlinks=False) else -1


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExportError(f"{error.filename}: {error.strerror}") from error
