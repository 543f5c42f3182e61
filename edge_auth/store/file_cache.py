"""Local copies of the files of a store that are mapped into memory or streamed.

Such a file must never change or shrink while a process reads it, whatever happens in the store. So processes read
copies. A copy is named by the SHA-256 of its content, verified when it is opened, and shared by all processes of a
machine; one process fetches at a time. Copies survive restarts. When they exceed a number of bytes, the least recently
used ones are deleted; a process that has mapped one can still read it.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, flock
from functools import partial
from pathlib import Path

from edge_auth.errors import StoreError
from edge_auth.store.codec import CHUNK_BYTES, decompressed_chunks
from edge_auth.store.disk import replace_file
from edge_auth.store.interface import Store

MAX_BYTES = 4 << 30
_LOCK_NAME = ".lock"


def user_cache() -> Path:
    """Return the folder for files that can be created or fetched again (XDG base directories)."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cardpress"


def user_file_cache() -> "FileCache":
    """Return the file cache that the commands of a user share."""
    return FileCache(user_cache() / "copies")


class FileCache:
    """A folder of copies.

    Args:
        max_bytes: When the copies exceed this size, the least recently used ones are deleted.
        pause: Called after each piece of a file with the CPU seconds that it took. It may sleep.
    """

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES, pause: Callable[[float], None] = lambda _: None):
        self._folder = folder
        self._max_bytes = max_bytes
        self._pause = pause

    def path(self, store: Store, name: str, sha256: str | None = None, inflated_sha256: str | None = None) -> Path:
        """Return the copy of an object. Fetch the object if the copy is missing or damaged.

        Args:
            sha256: The expected hash, or None for the hash that the store has recorded, if any.
            inflated_sha256: To inflate a compressed object: the SHA-256 of its content.

        Raises:
            StoreError: The object cannot be read or is damaged, or the copy cannot be written.
        """
        recorded = None if sha256 else store.digest(name)
        known = inflated_sha256 or sha256 or (recorded.sha256 if recorded else None)
        if known and self._is_intact(known):
            return self._folder / known
        with self._lock():
            if not (known and self._is_intact(known)):  # another process may have fetched it meanwhile
                known = self._fetch(store, name, sha256, inflated_sha256)
        return self._folder / known

    def inflated(self, sha256: str, read_member: Callable[[], bytes]) -> Path:
        """Return the copy of what a gzip member holds. Inflate the member if the copy is missing or damaged.

        Args:
            sha256: The SHA-256 of the content.
            read_member: Returns the gzip member.

        Raises:
            StoreError: The member cannot be read or is damaged, or the copy cannot be written.
        """
        if not self._is_intact(sha256):
            with self._lock():
                if not self._is_intact(sha256):  # another process may have inflated it meanwhile
                    self._write(sha256, decompressed_chunks(read_member()))
            if not self._is_intact(sha256):
                raise StoreError(f"{self._folder}: the inflated content does not match its hash {sha256}")
        return self._folder / sha256

    def _fetch(self, store: Store, name: str, sha256: str | None, inflated_sha256: str | None) -> str:
        """Copy an object. Return the SHA-256 of the copy."""
        data = store.get(name)
        found = hashlib.sha256(data).hexdigest()
        if sha256 not in (None, found):
            raise StoreError(f"{name} in {store.location} does not match its hash")
        known = inflated_sha256 or found
        if not self._is_intact(known):
            self._write(known, decompressed_chunks(data) if inflated_sha256 else [data])
        if inflated_sha256 and not self._is_intact(known):
            raise StoreError(f"{name} in {store.location}: the inflated content does not match its hash")
        return known

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Hold the lock that lets one process fetch at a time."""
        with self._translated_errors():
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = (self._folder / _LOCK_NAME).open("a")
        with lock:
            flock(lock, LOCK_EX)
            yield

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"cannot write a local copy in {self._folder}: {error.strerror or error}") from error

    def _is_intact(self, sha256: str) -> bool:
        path = self._folder / sha256
        try:
            with path.open("rb") as file:
                digest = hashlib.sha256()
                for chunk in self._paced(iter(partial(file.read, CHUNK_BYTES), b"")):
                    digest.update(chunk)
            intact = digest.hexdigest() == sha256
            os.utime(path)
        except OSError:
            return False
        return intact

    def _write(self, sha256: str, data: Iterable[bytes]) -> None:
        with self._translated_errors():
            replace_file(self._folder / sha256, self._paced(data), mode=0o600)
        self._evict()

    def _paced(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        began = time.thread_time()
        for piece in pieces:
            yield piece
            self._pause(time.thread_time() - began)
            began = time.thread_time()

    def _evict(self) -> None:
        """Delete the least recently used copies, but never the newest one, which is about to be opened."""
        with suppress(OSError):  # another process may delete the same files
            files = [path for path in self._folder.iterdir() if path.name != _LOCK_NAME]
            by_use = sorted((path.stat().st_mtime_ns, path.stat().st_size, path) for path in files)
            excess = sum(size for _, size, _ in by_use) - self._max_bytes
            for _, size, path in by_use[:-1]:
                if excess <= 0:
                    return
                path.unlink()
                excess -= size
