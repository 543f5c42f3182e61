"""Local copies of the files of a store that are mapped into memory: indexes and the catalogue.

A mapped file must never change or shrink under its readers, whatever happens in the store, so what is mapped is a
copy, named by its content, verified when it is opened and shared by all processes of a machine, of which one fetches
at a time. FileCache survive restarts; those not used for longest go when there are more bytes than the limit (whoever
still maps one keeps it).
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, flock
from pathlib import Path

from edge_auth.contract.codec import pieces
from edge_auth.contract.store.interface import Store
from edge_auth.errors import StoreError

LIMIT = 4 << 30
_LOCK = ".lock"


def user_cache() -> Path:
    """The folder for what can be made or fetched again (XDG base directories)."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cardpress"


def user_file_cache() -> "FileCache":
    """The copies that the commands of a user share."""
    return FileCache(user_cache() / "copies")


class FileCache:
    """A folder of copies, at most `limit` bytes of them."""

    def __init__(self, folder: Path, limit: int = LIMIT):
        self._folder = folder
        self._limit = limit

    def path(self, store: Store, name: str, sha256: str | None = None, inflated: str | None = None) -> Path:
        """The copy of an object of the store; made anew where there is none, or a damaged one.

        Args:
            sha256: what its content must be; None for what the store has noted, or whatever it holds.
            inflated: what it must be once inflated, where the copy is to be that.

        Raises:
            StoreError: the object cannot be read or is not what was written, or the copy cannot be kept.
        """
        noted = None if sha256 else store.digest(name)
        known = inflated or sha256 or (noted and noted.sha256)
        if known and self._is_good(known):
            return self._folder / known
        with self._turn():
            if not (known and self._is_good(known)):  # another process may have been faster
                known = self._fetched(store, name, sha256, inflated)
        return self._folder / known

    def _fetched(self, store: Store, name: str, sha256: str | None, inflated: str | None) -> str:
        """Copy an object; the SHA-256 of its content."""
        data = store.get(name)
        found = hashlib.sha256(data).hexdigest()
        if sha256 not in (None, found):
            raise StoreError(f"{name} in {store.location} is not what was written")
        known = inflated or found
        if not self._is_good(known):
            self._keep(known, pieces(data) if inflated else [data])
        if inflated and not self._is_good(known):
            raise StoreError(f"{name} in {store.location} does not inflate to what was written")
        return known

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One fetches, the others wait and find it."""
        with self._translated():
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = (self._folder / _LOCK).open("a")
        with lock:
            flock(lock, LOCK_EX)
            yield

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"cannot keep a copy in {self._folder}: {error.strerror or error}") from error

    def _is_good(self, sha256: str) -> bool:
        path = self._folder / sha256
        try:
            with path.open("rb") as file:
                good = hashlib.file_digest(file, "sha256").hexdigest() == sha256
            os.utime(path)
        except OSError:
            return False
        return good

    def _keep(self, sha256: str, data: Iterable[bytes]) -> None:
        with self._translated():
            handle, temporary = tempfile.mkstemp(prefix=".writing-", dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.writelines(data)
                os.replace(temporary, self._folder / sha256)
            except OSError:  # a full disk, most likely: what it was filled with must go
                Path(temporary).unlink(missing_ok=True)
                raise
        self._evict()

    def _evict(self) -> None:
        """Delete the oldest but the last one, which somebody is about to open."""
        with suppress(OSError):  # another process may evict the same
            files = [path for path in self._folder.iterdir() if path.name != _LOCK]
            found = sorted((path.stat().st_mtime_ns, path.stat().st_size, path) for path in files)
            excess = sum(size for _, size, _ in found) - self._limit
            for _, size, path in found[:-1]:
                if excess <= 0:
                    return
                path.unlink()
                excess -= size
