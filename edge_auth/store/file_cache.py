"""Local copies of the files of a store that are mapped into memory or streamed.

Such a file must never change or shrink while a process reads it, whatever happens in the store. So processes read
copies. A copy is named by the SHA-256 of its content, verified when it is opened, and shared by all processes of a
machine; one process fetches at a time. Copies survive restarts. When they exceed a number of bytes, the least recently
used ones are deleted; a process that has mapped one can still read it.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, flock
from pathlib import Path
from threading import Lock

from edge_auth.errors import StoreError
from edge_auth.store.codec import decompressed_chunks
from edge_auth.store.disk import delete_abandoned, tolerated, written_beside
from edge_auth.store.interface import Store
from edge_auth.store.remedies import with_remedy

MAX_BYTES = 4 << 30
_LOCK_NAME = ".lock"


def user_cache() -> Path:
    """Return the folder for files that can be created or fetched again (XDG base directories).

    Without a home that can be written to, as in a container, it is one below the folder of temporary files.
    """
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base) / "cardpress" if base else user_folder(".cache")


def default_state_folder() -> str:
    """Return the default folder for state that outlives a restart, by the XDG base directory specification."""
    base = os.environ.get("XDG_STATE_HOME")
    return str(Path(base) / "cardpress" if base else user_folder(".local/state"))


def user_folder(name: str) -> Path:
    """Return a folder `cardpress` below a folder of the user's home, or below the folder of temporary files.

    Raises:
        StoreError: Neither can be written to.
    """
    with suppress(RuntimeError):  # the user has no home
        folder = Path.home() / name / "cardpress"
        if _is_writable(folder):
            return folder
    try:
        return _temporary_folder(name.strip(".").replace("/", "-"))
    except OSError as error:
        raise StoreError(
            f"neither a home nor a folder of temporary files can be written to ({error}): name folders by HOME, "
            "XDG_CACHE_HOME, XDG_STATE_HOME or TMPDIR"
        ) from error


def _is_writable(folder: Path) -> bool:
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def _temporary_folder(name: str) -> Path:
    """Return a folder that only this user can write to: what lies in it is run, such as compiled templates."""
    folder = Path(tempfile.gettempdir(), f"cardpress-{name}-{os.geteuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    stat = folder.lstat()
    if folder.is_symlink() or stat.st_uid != os.geteuid() or stat.st_mode & 0o022:
        raise PermissionError(f"{folder} belongs to another user")
    return folder


def user_file_cache() -> "FileCache":
    """Return the file cache that the commands of a user share."""
    return FileCache(user_cache() / "copies")


class FileCache:
    """A folder of copies.

    Args:
        max_bytes: When the copies exceed this size, the least recently used ones are deleted.
        hash_of: Returns the SHA-256 of a local file, perhaps from memory. None: each file is read.
    """

    def __init__(
        self,
        folder: Path,
        max_bytes: int = MAX_BYTES,
        hash_of: Callable[[str], str] | None = None,
    ):
        self._folder = folder
        self._max_bytes = max_bytes
        self._hash_of = hash_of or self._read_hash
        self._held: dict[Hashable, set[str]] = {}
        self._bytes: int | None = None  # None until the copies were measured
        self._room = Lock()

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
        if known and self.has(known):
            return self.place(known)
        with self._one_process():
            if not (known and self.has(known)):  # another process may have fetched it meanwhile
                known = self._fetch(store, name, sha256, inflated_sha256)
        return self.place(known)

    def inflated(self, sha256: str, read_member: Callable[[], bytes]) -> Path:
        """Return the copy of what a gzip member holds. Inflate the member if the copy is missing or damaged.

        Args:
            sha256: The SHA-256 of the content.
            read_member: Returns the gzip member.

        Raises:
            StoreError: The member cannot be read or is damaged, or the copy cannot be written.
        """
        if not self.has(sha256):
            with self._one_process():
                if not self.has(sha256):  # another process may have inflated it meanwhile
                    self.add(sha256, decompressed_chunks(read_member()))
            if not self.has(sha256):
                raise StoreError(f"{self._folder}: the inflated content does not match its hash {sha256}")
        return self.place(sha256)

    def place(self, sha256: str, name: str = "") -> Path:
        """Return where a copy is, or would be.

        Args:
            name: The path of the copy in a folder of its own, for readers to which the name of a file matters.
        """
        return self._folder / sha256 / name

    def has(self, sha256: str, name: str = "") -> bool:
        """Return whether there is a copy with this content, and note that it is used."""
        try:
            intact = self._hash_of(os.fspath(self.place(sha256, name))) == sha256
            os.utime(self.place(sha256))
        except OSError:
            return False
        return intact

    def add(self, sha256: str, data: Iterable[bytes], name: str = "") -> None:
        """Write a copy, and delete the least recently used ones until there is room for it.

        Raises:
            StoreError: It cannot be written.
        """
        place = self.place(sha256, name)
        with self._translated_errors():
            self._folder.mkdir(parents=True, exist_ok=True)
            with written_beside(self._folder / sha256, data, mode=0o600) as temporary, self._room:
                self._make_room(Path(temporary).stat().st_size)
                place.parent.mkdir(parents=True, exist_ok=True)
                os.replace(temporary, place)

    def hold(self, owner: Hashable, hashes: set[str]) -> None:
        """Delete no copies with these hashes until the owner holds others: files that a query may open again."""
        self._held[owner] = hashes

    def _fetch(self, store: Store, name: str, sha256: str | None, inflated_sha256: str | None) -> str:
        """Copy an object. Return the SHA-256 of the copy."""
        data = store.get(name)
        found = hashlib.sha256(data).hexdigest()
        if sha256 not in (None, found):
            raise StoreError(f"{name} in {store.location} does not match its hash")
        known = inflated_sha256 or found
        if not self.has(known):
            self.add(known, decompressed_chunks(data) if inflated_sha256 else [data])
        if inflated_sha256 and not self.has(known):
            raise StoreError(f"{name} in {store.location}: the inflated content does not match its hash")
        return known

    @contextmanager
    def _one_process(self) -> Iterator[None]:
        """Hold the lock that lets one process fetch at a time."""
        with self._translated_errors():
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = (self._folder / _LOCK_NAME).open("a")
        with lock:
            with tolerated():  # without locks two processes may fetch the same file
                flock(lock, LOCK_EX)
            self._bytes = None  # other processes may have added copies
            yield

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = f"cannot write a local copy in {self._folder}: {error.strerror or error}"
            raise StoreError(with_remedy(message, error)) from error

    def _read_hash(self, path: str) -> str:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _make_room(self, size: int) -> None:
        """Delete the least recently used copies until there is room for `size` more bytes."""
        with suppress(OSError):  # another process may delete the same files
            if self._bytes is None or self._bytes + size > self._max_bytes:
                self._bytes = self._shrink(self._max_bytes - size)
            self._bytes += size

    def _shrink(self, max_bytes: int) -> int:
        """Delete copies until at most `max_bytes` are left, and return how many are left."""
        delete_abandoned(self._folder)
        copies = sorted((copy.stat().st_mtime_ns, _size(copy), copy) for copy in self._folder.glob("[!.]*"))
        total = sum(size for _, size, _ in copies)
        for _, size, copy in copies:
            if total <= max_bytes:
                break
            if not any(copy.name in hashes for hashes in self._held.values()):
                _delete(copy)
                total -= size
        return total


def _size(copy: Path) -> int:
    files = copy.rglob("*") if copy.is_dir() else [copy]
    return sum(file.stat().st_size for file in files if file.is_file())


def _delete(copy: Path) -> None:
    if copy.is_dir():
        shutil.rmtree(copy, ignore_errors=True)
    else:
        copy.unlink(missing_ok=True)
