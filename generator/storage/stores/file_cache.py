"""Local copies of what is mapped into memory, streamed or read by DuckDB: objects of a store, and inflated objects.

A copy is named by the SHA-256 of its content, verified when it is opened, and shared by all processes of a machine; one
process fetches at a time. Copies survive restarts. When they exceed a number of bytes, the least recently used ones are
deleted; a process that has mapped one can still read it.
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
from time import time

from generator.storage.errors import DamagedObject, StoreError
from generator.storage.stores.disk import LEFTOVER_SECONDS, TEMPORARY_PREFIX, written_beside
from generator.storage.stores.interface import Store
from generator.storage.stores.remedies import with_remedy

MAX_BYTES = 4 << 30


def user_cache() -> Path:
    """Return the folder for files that can be created or fetched again (XDG base directories)."""
    return _user_folder("XDG_CACHE_HOME", ".cache")


def default_state_folder() -> str:
    """Return the default folder for state that outlives a restart (XDG base directories)."""
    return str(_user_folder("XDG_STATE_HOME", ".local/state"))


def _user_folder(variable: str, name: str) -> Path:
    """Return a folder below the one that a variable names, else below a folder of the user's home.

    Without a home that can be written to, as in a container, it is one below the folder of temporary files. Only this
    user can write to it: what lies in it is run, such as compiled templates.
    """
    if base := os.environ.get(variable):
        return Path(base) / "cardpress"
    with suppress(RuntimeError):  # the user has no home
        home = Path.home() / name / "cardpress"
        nearest = next(parent for parent in (home, *home.parents) if parent.exists())
        if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
            return home
    try:
        folder = Path(tempfile.gettempdir(), f"cardpress-{name.strip('.').replace('/', '-')}-{os.geteuid()}")
        folder.mkdir(mode=0o700, exist_ok=True)
        stat = folder.lstat()
        if folder.is_symlink() or stat.st_uid != os.geteuid() or stat.st_mode & 0o022:
            raise PermissionError(f"{folder} belongs to another user")
        return folder
    except OSError as error:
        raise StoreError(
            f"neither a home nor a folder of temporary files can be written to ({error}): name folders by HOME, "
            "XDG_CACHE_HOME, XDG_STATE_HOME or TMPDIR"
        ) from error


def checked(chunks: Iterable[bytes], sha256: str, where: str) -> Iterator[bytes]:
    """Yield the chunks of some content. In the end raise DamagedObject if they do not match their hash."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
        yield chunk
    if digest.hexdigest() != sha256:
        raise DamagedObject(f"{where} does not match its hash")


def sha256_of(path: str | Path) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _state(path: Path) -> tuple[str, int, int]:
    stat = path.stat()
    return str(path), stat.st_ino, stat.st_mtime_ns


class FileCache:
    """A folder of copies, of at most `max_bytes`. `hash_of` returns the SHA-256 of a file, perhaps from memory."""

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES, hash_of: Callable[[str], str] = sha256_of):
        self._folder = folder
        self._max_bytes = max_bytes
        self._hash_of = hash_of
        self._held: dict[Hashable, set[str]] = {}
        self._bytes: int | None = None  # None until the copies were measured
        self._room = Lock()
        self._whole: set[tuple[str, int, int]] = set()  # path, inode and time of change of files with the right hash

    def file(self, sha256: str, read: Callable[[], Iterable[bytes]], where: str) -> Path:
        """Return the copy of some content, which is read if the copy is missing or damaged; `where` is for messages."""
        if not self.has(sha256):
            with self._one_process():
                if not self.has(sha256):  # another process may have written it meanwhile
                    self.add(sha256, checked(read(), sha256, where))
        return self.place(sha256)

    def path(self, store: Store, name: str, sha256: str | None = None) -> Path:
        """Return the copy of an object; with None for its hash, of what the store has now."""
        recorded, data = None if sha256 else store.digest(name), b""
        if not (known := sha256 or (recorded and recorded.sha256)):
            data = store.get(name)
            known = hashlib.sha256(data).hexdigest()
        return self.file(known, lambda: [data or store.get(name)], f"{name} in {store.location}")

    def require_whole(self, path: Path, sha256: str) -> None:
        """Hash a file that is mapped where it lies, unless the same file was hashed before."""
        try:
            state = _state(path)
            if state not in self._whole and sha256_of(path) != sha256:
                raise DamagedObject(f"{path} does not match its hash")
        except OSError as error:
            raise DamagedObject(f"{path} cannot be read: {error.strerror}") from error
        self._whole.add(state)

    def is_whole(self, path: Path) -> bool:
        """Return whether this very file was hashed before."""
        with suppress(OSError):
            return _state(path) in self._whole
        return False

    def place(self, sha256: str, name: str = "") -> Path:
        """Return where a copy is, or would be; with a name, for readers to which it matters, in a folder of its own."""
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
        """Write a copy, and delete the least recently used ones until there is room for it."""
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

    @contextmanager
    def _one_process(self) -> Iterator[None]:
        """Hold the lock that lets one process fetch at a time."""
        with self._translated_errors():
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = (self._folder / ".lock").open("a")
        with lock:
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

    def _make_room(self, size: int) -> None:
        with suppress(OSError):  # another process may delete the same files
            if self._bytes is None or self._bytes + size > self._max_bytes:
                self._bytes = self._shrink(self._max_bytes - size)
            self._bytes += size

    def _shrink(self, max_bytes: int) -> int:
        """Delete copies until at most `max_bytes` are left, and return how many are left."""
        for left in self._folder.glob(f"{TEMPORARY_PREFIX}*"):
            if left.stat().st_mtime < time() - LEFTOVER_SECONDS:
                left.unlink(missing_ok=True)
        copies = sorted((copy.stat().st_mtime_ns, _size(copy), copy) for copy in self._folder.glob("[!.]*"))
        total = sum(size for _, size, _ in copies)
        for _, size, copy in copies:
            if total <= max_bytes:
                break
            if not any(copy.name in hashes for hashes in self._held.values()):
                shutil.rmtree(copy) if copy.is_dir() else copy.unlink(missing_ok=True)
                total -= size
        return total


def _size(copy: Path) -> int:
    files = copy.rglob("*") if copy.is_dir() else [copy]
    return sum(file.stat().st_size for file in files if file.is_file())
