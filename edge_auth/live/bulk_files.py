"""The bulk files of the builds that a store keeps: found by name, read, and sent in chunks.

A thread of the server sends a download, and does not hold the interpreter while the client is slow. There are threads
for MAX_DOWNLOADS of them beside those that answer requests. Each worker counts its own.

What cannot be read raises StoreError. What sends a body in chunks raises RateLimited if the key, its address or all
keys together download too much.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import NamedTuple

from werkzeug.wsgi import ClosingIterator

from edge_auth.errors import NotFound
from edge_auth.live.background import Jobs, busy
from edge_auth.live.build_registry import BuildRegistry
from edge_auth.live.counter import address_name
from edge_auth.live.slow_readers import UnreadAnswers
from generator.storage import layout
from generator.storage.builds import open_build
from generator.storage.bulk import LIVE_CATALOGUE, BulkFile, catalogue_of
from generator.storage.errors import MissingObject, StoreError, UnknownBuild
from generator.storage.stores.interface import Store

MAX_DOWNLOADS = 48  # that a worker sends at the same time
_MAX_DOWNLOADS_OF_GUESTS = MAX_DOWNLOADS // 4  # of these; anyone may be a guest, from many addresses
_MAX_DOWNLOADS_OF_A_KEY = 16  # and never more than there are free places, so that few keys cannot take all
_MAX_DOWNLOADS_OF_AN_ADDRESS = 40
MAX_READ_BYTES = 1 << 20  # a body up to this size is sent at once, a larger one in chunks
_CHUNK_BYTES = 256 << 10  # the server holds some chunks for a client that does not read
_S3_READ_BYTES = 2 << 20  # each read is a request
_LISTED_SECONDS = 2.0  # how long a listing of the builds is used


class Holder(NamedTuple):
    """Who downloads: the id of a key, None for a guest, and the address of the client."""

    key_id: str | None
    address: str


class StoredBulkFiles:
    def __init__(self, builds: BuildRegistry, store: Store, jobs: Jobs):
        self._builds = builds
        self._store = store
        self._jobs = jobs
        self.unread = UnreadAnswers()  # those that are sent at once
        self._held: list[Holder] = []  # of the downloads that this process sends
        self._lock = Lock()
        self._files_by_build: dict[str, dict[str, BulkFile]] = {}  # the files of each build by name
        self._listed_at = float("-inf")

    def find(self, name: str) -> BulkFile:
        """Return the file with this name, which any kept build may list, or raise NotFound."""
        live = self._builds.select().bulk_files
        if name == LIVE_CATALOGUE:
            return catalogue_of(live)
        file = live.get(name)
        if file is None:
            if monotonic() > self._listed_at + _LISTED_SECONDS:
                self._jobs.wait_for("kept builds", self._list_builds)
            file = next((files[name] for files in self._files_by_build.values() if name in files), None)
        if file is None:
            raise NotFound("no build that is kept here has this file: /api/v1/bulk lists the files of the live build")
        return file

    def read(self, file: BulkFile, span: range, holder: Holder) -> bytes:
        self.unread.note(*holder, len(span))
        self._require_whole(file)
        return self._store.get(file.object, span.start, len(span))

    def stream(self, file: BulkFile, span: range, holder: Holder) -> Iterator[bytes]:
        """Return the chunks of a part of a file. They end early if the store fails."""
        self._require_whole(file)
        path = self._store.local_path(file.object)
        return self.send(_of_object(self._store, file.object, span) if path is None else of_file(path, span), holder)

    def send(self, chunks: Iterator[bytes], holder: Holder) -> Iterator[bytes]:
        """Return chunks, which the server closes. The first is read now: that may fail, and a file outlives a prune."""
        sent = self._counted(chunks, holder)
        return ClosingIterator(chain([next(sent)], sent), sent.close)

    def _counted(self, chunks: Iterator[bytes], holder: Holder) -> Generator[bytes]:
        with self._lock:
            _require_place(holder, self._held)
            self._held.append(holder)
        try:
            yield from chunks
        finally:
            with self._lock:
                self._held.remove(holder)

    def _list_builds(self) -> None:
        known, found = self._files_by_build, {}
        for id_ in map(layout.id_of, self._store.list(layout.BUILDS)):
            with suppress(UnknownBuild):  # a prune has just deleted it
                found[id_] = known[id_] if id_ in known else open_build(self._store, id_).bulk_files
        self._files_by_build, self._listed_at = found, monotonic()

    def _require_whole(self, file: BulkFile) -> None:
        """Hash a file of a folder once: a power cut or a bad disk may have damaged it."""
        path, files = self._store.local_path(file.object), self._builds.file_cache
        if path is not None and not files.is_whole(path):
            self._jobs.wait_for(path, lambda: files.require_whole(path, file.sha256))


def _require_place(holder: Holder, held: Sequence[Holder]) -> None:
    of_address = [one for one in held if address_name(one.address) == address_name(holder.address)]
    of_key = [one for one in (held if holder.key_id else of_address) if one.key_id == holder.key_id]
    most = min(_MAX_DOWNLOADS_OF_A_KEY, MAX_DOWNLOADS - len(held))
    if len(of_key) >= most > 0 or len(of_address) >= _MAX_DOWNLOADS_OF_AN_ADDRESS:
        raise busy(f"{max(len(of_key), len(of_address))} downloads of yours are being sent at the same time")
    if len(held) >= MAX_DOWNLOADS:
        raise busy("too many downloads are being sent at the same time")
    if holder.key_id is None and sum(one.key_id is None for one in held) >= _MAX_DOWNLOADS_OF_GUESTS:
        raise busy("too many downloads without a key are being sent at the same time")


def of_file(path: Path, span: range) -> Iterator[bytes]:
    """Yield a part of a file. It is open until the last chunk, so it may be deleted meanwhile. Raise StoreError."""
    try:
        file = path.open("rb", buffering=0)
    except OSError as error:
        raise MissingObject(f"{path}: {error.strerror}") from error
    with file:
        file.seek(span.start)
        left = len(span)
        while left > 0:
            chunk = file.read(min(_CHUNK_BYTES, left))
            if not chunk:
                raise StoreError(f"a file ends {left} bytes too early")
            left -= len(chunk)
            yield chunk


def _of_object(store: Store, name: str, span: range) -> Iterator[bytes]:
    for start in range(span.start, span.stop, _S3_READ_BYTES):
        yield from cut(store.get(name, start, min(_S3_READ_BYTES, span.stop - start)))


def cut(data: bytes) -> Iterator[bytes]:
    return (data[start : start + _CHUNK_BYTES] for start in range(0, len(data), _CHUNK_BYTES))
