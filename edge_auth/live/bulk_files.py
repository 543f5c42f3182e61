"""The bulk files of the builds that a store keeps: found by name, read, and sent in chunks.

A thread of the server sends a download, and does not hold the interpreter while the client is slow. There are threads
for MAX_DOWNLOADS of them beside those that answer requests. Each worker counts its own.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import NamedTuple

from edge_auth.builds import layout
from edge_auth.builds.builds import open_build
from edge_auth.builds.bulk import LIVE_CATALOGUE, BulkFile, catalogue_of, is_file_name
from edge_auth.errors import AccessDenied, MissingObject, NotFound, RateLimited, StoreError, UnknownBuild
from edge_auth.live.build_registry import BuildRegistry
from edge_auth.live.counter import address_name, guest_name
from edge_auth.live.jobs import Jobs
from edge_auth.store.interface import Store

MAX_DOWNLOADS = 48  # that a worker sends at the same time
_MAX_DOWNLOADS_OF_GUESTS = MAX_DOWNLOADS // 4  # of these; anyone may be a guest, from many addresses
_MAX_DOWNLOADS_OF_A_KEY = 16  # two keys leave places for others
_MAX_DOWNLOADS_OF_AN_ADDRESS = 40
_RETRY_SECONDS = 5
MAX_READ_BYTES = 1 << 20  # a body up to this size is sent at once, a larger one in chunks
_CHUNK_BYTES = 256 << 10  # the server holds some chunks for a client that does not read
_S3_READ_BYTES = 2 << 20  # each read is a request
_LISTED_SECONDS = 2.0  # how long a listing of the builds is used
_NO_FILE = "no build that is kept here has this file: /api/v1/bulk lists the files of the live build"


class Span(NamedTuple):
    """The bytes of a file from `start` to before `end`."""

    start: int
    end: int


class Holder(NamedTuple):
    """Who downloads: the id of a key, None for a guest, and the address of the client."""

    key_id: str | None
    address: str


class StoredBulkFiles:
    """The bulk files of the builds that a store keeps."""

    def __init__(
        self,
        builds: BuildRegistry,
        store: Store,
        jobs: Jobs,
    ):
        self._builds = builds
        self._store = store
        self._jobs = jobs
        self._downloads = Downloads()
        self._files_by_build: dict[str, dict[str, BulkFile]] = {}  # the files of each build by name
        self._listed_at = float("-inf")
        self._whole: set[tuple[str, int, int]] = set()  # name, inode and time of change of files with the right hash

    def find(self, name: str) -> BulkFile:
        """Return the file with this name, which any kept build may list. `catalog.ducklake` is the live build's.

        Raises:
            NotFound: No build that the store keeps lists it.
            StoreError: The store failed.
        """
        if name == LIVE_CATALOGUE:
            return self._live_catalogue()
        if not is_file_name(name):
            raise NotFound(_NO_FILE)
        file = self._builds.select().objects.bulk_files.get(name)
        if file is not None:
            return file
        if monotonic() > self._listed_at + _LISTED_SECONDS:
            self._jobs.wait_for("kept builds", self._list_builds)
        file = next((files[name] for files in self._files_by_build.values() if name in files), None)
        if file is None:
            raise NotFound(_NO_FILE)
        return file

    def _live_catalogue(self) -> BulkFile:
        return catalogue_of(self._builds.select().objects.bulk_files)

    def read(self, file: BulkFile, span: Span) -> bytes:
        """Return some bytes of a file.

        Raises:
            StoreError: They cannot be read.
        """
        with self._as_not_found(file.name):
            self._require_whole(file)
            return self._store.get(file.object, span.start, span.end - span.start)

    def stream(self, file: BulkFile, span: Span, holder: Holder) -> Iterator[bytes]:
        """Return the chunks of a part of a file. They end early if the store fails.

        Raises:
            StoreError: The file cannot be read.
            RateLimited: The key, its address or all keys together download too much already.
        """
        with self._as_not_found(file.name):
            self._require_whole(file)
            path = self._store.local_path(file.object)
            chunks = FolderChunks(path, span) if path else StoreChunks(self._store, file.object, span)
        return Download(self._downloads, holder, chunks)

    def stream_local(self, path: Path, size: int, holder: Holder) -> Iterator[bytes]:
        """Return the chunks of a local file.

        Raises:
            StoreError: It is missing.
            RateLimited: As for `stream`.
        """
        return Download(self._downloads, holder, FolderChunks(path, Span(0, size)))

    def stream_bytes(self, data: bytes, holder: Holder) -> Iterator[bytes]:
        """Return the chunks of a large body. The server holds some of them for a client that does not read, not all.

        Raises:
            RateLimited: As for `stream`.
        """
        return Download(self._downloads, holder, MemoryChunks(data))

    @contextmanager
    def _as_not_found(self, name: str) -> Iterator[None]:
        """Raise NotFound for a file that is missing because its last build was pruned a moment ago."""
        try:
            yield
        except (MissingObject, AccessDenied):  # the errors for objects of a pruned build
            self._listed_at = float("-inf")
            self.find(name)
            raise

    def _list_builds(self) -> None:
        """Read which builds the store keeps, and the manifests of those that are new."""
        ids = list(layout.build_ids(self._store.list(layout.BUILDS)))
        known, files_by_build = self._files_by_build, {}
        for id_ in ids:
            try:
                files_by_build[id_] = known[id_] if id_ in known else open_build(self._store, id_).bulk_files
            except UnknownBuild:  # a prune has just deleted it
                continue
        self._files_by_build, self._listed_at = files_by_build, monotonic()

    def _require_whole(self, file: BulkFile) -> None:
        """Check the size of a file of a folder and, once, its hash; a power cut or a bad disk may have damaged it.

        Raises:
            StoreError: It is damaged or missing.
        """
        path = self._store.local_path(file.object)
        if path is None:
            return
        try:
            stat = path.stat()
        except OSError as error:
            raise MissingObject(f"{file.object} in {self._store.location}: {error.strerror}") from error
        state = (file.object, stat.st_ino, stat.st_mtime_ns)
        if stat.st_size != file.size:
            raise StoreError(f"{file.object} in {self._store.location} has {stat.st_size} bytes, not {file.size}")
        if state not in self._whole:
            self._jobs.wait_for(state, lambda: self._check_hash(path, file, state))

    def _check_hash(self, path: Path, file: BulkFile, state: tuple[str, int, int]) -> None:
        """Hash a file. Requests may have stopped waiting for this: a later one finds the result."""
        with path.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
        if found != file.sha256:
            raise StoreError(f"{file.object} in {self._store.location} differs from its recorded hash")
        self._whole.add(state)


class Downloads:
    """Counts the downloads that this process sends, by key and by address."""

    def __init__(self) -> None:
        self._held: list[_Counted] = []
        self._lock = Lock()

    def begin(self, holder: Holder) -> "_Counted":
        """Count one more, and return what ends it.

        Raises:
            RateLimited: There are too many.
        """
        one = _Counted(holder.key_id or guest_name(holder.address), address_name(holder.address), not holder.key_id)
        with self._lock:
            of_key = sum(held.key == one.key for held in self._held)
            of_address = sum(held.address == one.address for held in self._held)
            if of_key >= _MAX_DOWNLOADS_OF_A_KEY or of_address >= _MAX_DOWNLOADS_OF_AN_ADDRESS:
                raise _refusal(f"{max(of_key, of_address)} downloads of yours are being sent")
            if len(self._held) >= MAX_DOWNLOADS:
                raise _refusal("too many downloads are being sent")
            if one.is_guest and sum(held.is_guest for held in self._held) >= _MAX_DOWNLOADS_OF_GUESTS:
                raise _refusal("too many downloads without a key are being sent")
            self._held.append(one)
        return one

    def end(self, one: "_Counted") -> None:
        """Count one less."""
        with self._lock:
            self._held.remove(one)


class _Counted(NamedTuple):
    key: str
    address: str
    is_guest: bool


def _refusal(why: str) -> RateLimited:
    return RateLimited(f"{why} at the same time: wait {_RETRY_SECONDS} seconds", Retry_After=str(_RETRY_SECONDS))


class MemoryChunks:
    """The chunks of a body that is in memory."""

    def __init__(self, data: bytes):
        self._data, self._sent = data, 0

    def next(self) -> bytes:
        """Return the next chunk, b"" at the end."""
        chunk = self._data[self._sent : self._sent + _CHUNK_BYTES]
        self._sent += len(chunk)
        return chunk

    def close(self) -> None:
        """Give the memory back."""
        self._data = b""


class FolderChunks:
    """The chunks of a part of a local file. The open file outlives a prune.

    Raises:
        StoreError: The file cannot be opened.
    """

    def __init__(self, path: Path, span: Span):
        try:
            self._handle = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise MissingObject(f"{path}: {error.strerror}") from error
        self._next, self._end = span

    def next(self) -> bytes:
        """Return the next chunk, b"" at the end."""
        chunk = os.pread(self._handle, min(_CHUNK_BYTES, self._end - self._next), self._next)
        if not chunk and self._next < self._end:
            raise StoreError(f"a file ends at {self._next}, not at {self._end}")
        self._next += len(chunk)
        return chunk

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)


class StoreChunks:
    """The chunks of a part of an object across a network. The first read is made at once.

    Raises:
        StoreError: The object cannot be read.
    """

    def __init__(self, store: Store, name: str, span: Span):
        self._store, self._name = store, name
        self._next, self._end = span
        self._read_bytes, self._sent = self._read(), 0

    def next(self) -> bytes:
        """Return the next chunk, b"" at the end."""
        if self._sent == len(self._read_bytes):
            self._read_bytes, self._sent = self._read(), 0
        chunk = self._read_bytes[self._sent : self._sent + _CHUNK_BYTES]
        self._sent += len(chunk)
        return chunk

    def close(self) -> None:
        """Do nothing: no connection stays open between reads."""

    def _read(self) -> bytes:
        length = min(_S3_READ_BYTES, self._end - self._next)
        data = self._store.get(self._name, self._next, length) if length else b""
        self._next += len(data)
        return data


class Download:
    """A body that is being sent. The server closes it at the end, after an error, and when the client has gone.

    Raises:
        RateLimited: Too many downloads are being sent.
    """

    def __init__(self, downloads: Downloads, holder: Holder, chunks: FolderChunks | StoreChunks | MemoryChunks):
        self._chunks, self._downloads = chunks, downloads
        self._is_open = False
        try:
            self._counted = downloads.begin(holder)
        except RateLimited:
            chunks.close()
            raise
        self._is_open = True

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        chunk = self._chunks.next()
        if not chunk:
            raise StopIteration
        return chunk

    def close(self) -> None:
        """Give back what the download holds."""
        if self._is_open:
            self._is_open = False
            self._chunks.close()
            self._downloads.end(self._counted)
