"""The bulk files of the builds that a store keeps: found by name, read, and sent in chunks.

A thread of the server sends a download, and holds neither a turn nor the interpreter while the client is slow. There
are threads for MAX_DOWNLOADS of them beside those that answer requests.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import NamedTuple

from edge_auth.builds import layout
from edge_auth.builds.builds import open_build
from edge_auth.builds.bulk import LIVE_CATALOGUE, BulkFile, catalogue_of, is_file_name
from edge_auth.errors import AccessDenied, MissingObject, NotFound, StoreError, UnknownBuild
from edge_auth.live.build_registry import BuildRegistry
from edge_auth.live.single_flight import SingleFlight
from edge_auth.store.interface import Store

MAX_DOWNLOADS = 48  # that a worker sends at the same time
_MAX_DOWNLOADS_OF_A_KEY = 32
_CHUNK_BYTES = 256 << 10  # the server holds some chunks for a client that does not read
_S3_READ_BYTES = 2 << 20  # each read is a request
_LISTED_SECONDS = 2.0  # how long a listing of the builds is used
_NO_FILE = "no build that is kept here has this file: /api/v1/bulk lists the files of the live build"


class Span(NamedTuple):
    """The bytes of a file from `start` to before `end`."""

    start: int
    end: int


class StoredBulkFiles:
    """The bulk files of the builds that a store keeps.

    Args:
        waiting: Returns the context of slow work, in which other requests run if requests take turns.
    """

    def __init__(
        self,
        builds: BuildRegistry,
        store: Store,
        single_flight: SingleFlight,
        waiting: Callable[[], AbstractContextManager[None]],
    ):
        self._builds = builds
        self._store = store
        self._single_flight = single_flight
        self._waiting = waiting
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
            self._single_flight.get({"kept builds": self._list_builds})
        file = next((files[name] for files in self._files_by_build.values() if name in files), None)
        if file is None:
            raise NotFound(_NO_FILE)
        return file

    def _live_catalogue(self) -> BulkFile:
        live = self._builds.select()
        file = catalogue_of(live.objects.bulk_files)
        if file is None:
            raise NotFound(f"build {live.id} has no {LIVE_CATALOGUE}: an older version made it, the next build has it")
        return file

    def read(self, file: BulkFile, span: Span) -> bytes:
        """Return some bytes of a file.

        Raises:
            StoreError: They cannot be read.
        """
        with self._as_not_found(file.name):
            self._require_whole(file)
            with self._waiting():
                return self._store.get(file.object, span.start, span.end - span.start)

    def stream(self, file: BulkFile, span: Span, key_id: str) -> Iterator[bytes]:
        """Return the chunks of a part of a file. They are sent without a turn, and end early if the store fails.

        Raises:
            StoreError: The file cannot be read, or the key or all keys together download too much already.
        """
        with self._as_not_found(file.name):
            self._require_whole(file)
            path = self._store.local_path(file.object)
            chunks = FolderChunks(path, span) if path else StoreChunks(self._store, file.object, span)
        return Download(self._downloads, key_id, chunks)

    def stream_local(self, path: Path, size: int, key_id: str) -> Iterator[bytes]:
        """Return the chunks of a local file. They are sent without a turn.

        Raises:
            StoreError: It is missing, or the key or all keys together download too much already.
        """
        return Download(self._downloads, key_id, FolderChunks(path, Span(0, size)))

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
            self._single_flight.get({state: lambda: self._check_hash(path, file)})
            self._whole.add(state)

    def _check_hash(self, path: Path, file: BulkFile) -> None:
        with path.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
        if found != file.sha256:
            raise StoreError(f"{file.object} in {self._store.location} differs from its recorded hash")


class Downloads:
    """Counts the downloads that are being sent, by key."""

    def __init__(self) -> None:
        self._by_key: Counter[str] = Counter()
        self._lock = Lock()

    def begin(self, key_id: str) -> None:
        """Count one more.

        Raises:
            StoreError: There are too many.
        """
        with self._lock:
            if self._by_key.total() >= MAX_DOWNLOADS or self._by_key[key_id] >= _MAX_DOWNLOADS_OF_A_KEY:
                raise StoreError(f"{self._by_key.total()} downloads, {self._by_key[key_id]} with one key, are sent")
            self._by_key[key_id] += 1

    def end(self, key_id: str) -> None:
        """Count one less."""
        with self._lock:
            self._by_key[key_id] -= 1
            if not self._by_key[key_id]:
                del self._by_key[key_id]


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
    """The chunks of a part of an object across a network. Several are read together, the first ones at once.

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
        StoreError: Too many downloads are being sent.
    """

    def __init__(self, downloads: Downloads, key_id: str, chunks: FolderChunks | StoreChunks):
        self._chunks, self._downloads, self._key_id = chunks, downloads, key_id
        self._is_open = False
        try:
            downloads.begin(key_id)
        except StoreError:
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
            self._downloads.end(self._key_id)
