"""A store in a folder: objects are files, put in place whole by a rename."""

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from edge_auth.contract.store.interface import Listed, Span, Versioned
from edge_auth.errors import Conflict, MissingObject, StoreError

_TEMPORARY = ".writing-"
_TRIES = 100


class FolderStore:
    """A store in a folder: objects are files, put in place whole by a rename."""

    def __init__(self, location: str):
        self.root = Path(location)
        self.location = str(self.root.resolve())

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """The bytes of an object, or `length` of them from `offset`.

        Raises:
            MissingObject: there is no such object.
            StoreError: it cannot be read, or is shorter than the range.
        """
        if length is None:
            with _translated(self, name), (self.root / name).open("rb") as file:
                file.seek(offset)
                return file.read()
        # A search reads fifty ranges for one answer: Path and file objects would triple what each costs.
        with _translated(self, name):
            handle = os.open(f"{self.root}/{name}", os.O_RDONLY)
            try:
                data = os.pread(handle, length, offset)
            finally:
                os.close(handle)
        if len(data) != length:
            raise StoreError(
                f"{name} in {self.location}: ends at {offset + len(data)}, expected {offset + length} bytes"
            )
        return data

    def get_many(self, spans: Sequence[Span]) -> list[bytes]:
        """Several ranges, in their order; raises as `get` does."""
        return [self.get(*span) for span in spans]

    def get_versioned(self, name: str) -> Versioned | None:
        """The object with its tag, or None where it does not exist."""
        try:
            data = self.get(name)
        except MissingObject:
            return None
        return Versioned(data, _etag(data))

    def put(self, name: str, data: bytes) -> None:
        """Write an object whole."""
        with _translated(self, name), self._beside(name, data) as temporary:
            os.replace(temporary, self.root / name)

    def put_new(self, name: str, data: bytes) -> bool:
        """Write an object unless one has that name already; tells whether it was written."""
        with _translated(self, name), self._beside(name, data) as temporary:
            try:
                os.link(temporary, self.root / name)
            except FileExistsError:
                return False
        return True

    def swap(self, name: str, data: bytes, etag: str | None) -> None:
        """Replace an object only if its tag is still `etag` (None: only if it does not exist).

        Raises:
            Conflict: somebody else changed it first.
        """
        with self._locked():
            current = self.get_versioned(name)
            if (current.etag if current else None) != etag:
                raise Conflict(
                    f"{name} in {self.location} was changed by somebody else meanwhile: look, then try again"
                )
            self.put(name, data)

    def stat(self, name: str) -> int | None:
        """Size of an object in bytes, or None where it does not exist."""
        try:
            with _translated(self, name):
                return (self.root / name).stat().st_size
        except MissingObject:
            return None

    def digest(self, name: str) -> None:
        """A folder notes no hashes."""

    def list(self, prefix: str) -> Iterator[str]:
        """Names of the objects below a prefix that ends in `/`, sorted; half-written ones are not objects."""
        base = self.root / prefix
        with _translated(self, prefix):
            files = sorted(_files(base)) if base.is_dir() else []
        return (path.relative_to(self.root).as_posix() for path in files)

    def entries(self, prefix: str) -> Iterator[Listed]:
        """The objects below a prefix that ends in `/`, or the one of that name, sorted, with size and age."""
        names = self.list(prefix) if prefix.endswith("/") else [prefix]
        return filter(None, map(self._listed, names))

    def leftovers(self) -> Iterator[Listed]:
        """What writers left half-written: temporary files, which are no objects."""
        with _translated(self, ""):
            found = sorted(path for path in self.root.rglob(f"{_TEMPORARY}*"))
        return filter(None, (self._listed(path.relative_to(self.root).as_posix()) for path in found))

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects, and the folders that this empties; those already gone are no error."""
        for name in names:
            with _translated(self, name):
                (self.root / name).unlink(missing_ok=True)
            with suppress(OSError):  # not empty
                for folder in (self.root / name).relative_to(self.root).parents[:-1]:
                    (self.root / folder).rmdir()

    def _listed(self, name: str) -> Listed | None:
        try:
            stat = (self.root / name).stat()
        except OSError:  # deleted since it was listed
            return None
        return Listed(name, stat.st_size, stat.st_mtime)

    def local_path(self, name: str) -> Path:
        """The file that holds the object, for mapping into memory."""
        return self.root / name

    @contextmanager
    def _beside(self, name: str, data: bytes) -> Iterator[str]:
        handle, temporary = self._temporary((self.root / name).parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(temporary, 0o644)
            yield temporary
        finally:
            Path(temporary).unlink(missing_ok=True)

    def _temporary(self, folder: Path) -> tuple[int, str]:
        for _ in range(_TRIES):  # somebody may delete the folder, being empty, before a file is in it
            with suppress(FileNotFoundError, FileExistsError):
                folder.mkdir(parents=True, exist_ok=True)
                return tempfile.mkstemp(prefix=_TEMPORARY, dir=folder)
        folder.mkdir(parents=True, exist_ok=True)  # says what is wrong, where it is something else
        return tempfile.mkstemp(prefix=_TEMPORARY, dir=folder)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with _translated(self, ".lock"):
            self.root.mkdir(parents=True, exist_ok=True)
            lock = (self.root / ".lock").open("a")
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _files(base: Path) -> Iterator[Path]:
    """The files below a folder but hidden ones; `rglob` would take a folder that may not be read for an empty one."""

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # deleted since it was listed
            raise error

    for folder, _, names in os.walk(base, onerror=refuse):
        yield from (Path(folder, name) for name in names if not name.startswith("."))


def _etag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def _translated(store: FolderStore, name: str) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingObject(f"{name} is not in {store.location}") from error
    except OSError as error:
        raise StoreError(f"{name} in {store.location}: {error.strerror or error}") from error
