"""The target of an export: a folder or a bucket that holds a tree. Every file is put in place whole.

What cannot be read or written, or is no tree, raises ExportError; a bucket that fails, StoreError.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from edge_auth.builds.bulk import LIVE_CATALOGUE
from edge_auth.errors import Conflict
from edge_auth.store.disk import FOLDER_OF_THE_FILE_SYSTEM
from edge_auth.store.interface import parse_json
from edge_auth.store.open import is_folder, open_store
from edge_auth.store.remedies import with_remedy
from generator.errors import ExportError
from generator.tree.documents import TreeBody

RECORD = ".cardpress-export.json"
_FORMAT = 1


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
    plain: bool = False  # whether the objects of a bucket are not compressed

    def to_bytes(self) -> bytes:
        """Return the record as it is stored, one file on each line."""
        head = json.dumps({"format": _FORMAT, "build": self.build} | ({"plain": True} if self.plain else {}))[:-1]
        lines = (f"{json.dumps(name)}: {json.dumps(file)}" for name, file in sorted(self.files.items()))
        return (head + ', "files": {\n' + ",\n".join(lines) + "\n}}\n").encode()

    @staticmethod
    def from_bytes(data: bytes, location: str) -> "TreeRecord":
        """Parse a stored record."""
        try:
            fields = parse_json(data)
            if fields["format"] != _FORMAT:
                raise ExportError(f"{RECORD} in {location} was written by a newer version: export to another place")
            files = {name: file and TreeFile(*file) for name, file in fields["files"].items()}
            return TreeRecord(fields["build"], files, fields.get("plain", False))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ExportError(f"{RECORD} in {location} is not a record of an export: {error}") from error


GZIP_SUFFIX = ".gz"
_CACHE_CONTROL = "no-cache"  # a reader asks whether its copy is current
_FILE_CACHE_CONTROL = "public, max-age=31536000, immutable"  # its name is made from its content
_BUSY = "another export is writing to {}: wait until it has ended"


class Target:
    """A tree. It is a context in which no other export writes to it.

    A folder is locked. In a bucket the record is written by compare-and-swap, which notices another export.
    """

    def __init__(self, location: str):
        if is_folder(location) and Path(location).exists() and not Path(location).is_dir():
            raise ExportError(f"{location} is a file: name the folder of the tree, or a new one")
        self._store = open_store(location, what="tree")
        self._folder = self._store.local_path("")
        self.location = location if self._folder else self._store.location
        self.threads = 4 if self._folder else 16
        self._record: bytes | None = None
        self._etag: str | None = None
        self._lock = -1

    def __enter__(self) -> Self:
        if self._folder:
            with _translated_errors():
                self._folder.mkdir(parents=True, exist_ok=True)
                self._lock = os.open(self._folder, os.O_RDONLY)
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ExportError(_BUSY.format(self.location)) from error
            except OSError as error:
                raise ExportError(with_remedy(f"{self.location} cannot be locked: {error.strerror}", error)) from error
        self._store.delete(file.name for file in self._store.leftovers())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder:
            os.close(self._lock)

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
            found = {file.name: file.size for file in self._store.entries("")}
        return {name: size for name, size in found.items() if name != RECORD}

    def read_record(self) -> TreeRecord | None:
        """Return the record, or None."""
        found = self._store.get_versioned(RECORD, most=None)
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
            self._store.put(RECORD, data)
        else:
            self._swap_record(data)
        self._record = data

    def write(self, name: str, body: TreeBody, suffix: str, plain: bool) -> int:
        """Write a file whole, so that a reader sees the old bytes or the new ones. Return its size in bytes.

        Args:
            suffix: GZIP_SUFFIX for the compressed file of a folder.
            plain: Whether the objects of a bucket are written without compression. The files of a folder always are.
        """
        headers = {"ContentType": body.media_type, "CacheControl": _CACHE_CONTROL}
        if body.is_file:
            data = body.plain
            if not name.endswith(f"/{LIVE_CATALOGUE}"):  # the next build has another under this name
                headers["CacheControl"] = _FILE_CACHE_CONTROL
        elif suffix or not (plain or self._folder):
            data, headers["ContentEncoding"] = body.member, "gzip"
        else:
            data = body.plain
        self._store.put(name, data, headers)
        return len(data)

    def delete(self, names: list[str]) -> None:
        """Delete files, and folders that are then empty."""
        self._store.delete(names)

    def _swap_record(self, data: bytes) -> None:
        try:
            self._store.swap(RECORD, data, self._etag)
        except Conflict as error:
            raise ExportError(_BUSY.format(self.location)) from error
        found = self._store.get_versioned(RECORD, most=None)
        if found is None or found.data != data:
            raise ExportError(_BUSY.format(self.location))
        self._etag = found.etag


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
