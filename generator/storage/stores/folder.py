"""A store in a folder. Objects are files, which a rename puts in place complete.

Only the owner may read what lies below `private/`. The bytes of `swap` are on the disk when it returns, those of `put`
after the next `sync`.
"""

import errno
import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from stat import S_ISREG

from generator.storage.errors import Conflict, MissingObject, StoreError
from generator.storage.stores import disk
from generator.storage.stores.interface import MAX_DOCUMENT_BYTES, PRIVATE, Listed, Store, Versioned, check_size
from generator.storage.stores.remedies import with_remedy

_TRIED: set[str] = set()  # folders whose disk this process has tried
# What a command replaces last: that must be allowed before it writes anything.
_DOCUMENTS = ("current.json", "keys.json", f"{PRIVATE}keys.json")
_FOLDER_MODE, _PRIVATE_FOLDER_MODE = 0o755, 0o700


class FolderStore(Store):
    """A store in a folder. In a private one only the owner may read the objects, as if all were below `private/`."""

    def __init__(self, location: str, private: bool = False):
        self.root = Path(location)
        self.location = str(self.root.resolve())
        self._private = private

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Return a file, or a part of it. Raise MissingObject, or StoreError for what is no plain file or too short."""
        # A card detail reads several ranges for one answer. Path and file objects would triple the time of each.
        try:
            handle = os.open(
                f"{self.root}/{name}", os.O_RDONLY | os.O_NONBLOCK
            )  # a pipe would let it wait for a writer
            try:
                if not S_ISREG(os.fstat(handle).st_mode):
                    raise StoreError(f"{name} in {self.location} is no plain file: delete it")
                if length is None:
                    return (self.root / name).read_bytes()[offset:]
                data = os.pread(handle, length, offset)
            finally:
                os.close(handle)
        except OSError as error:
            raise self._translated(error, name) from error
        if len(data) != length:
            raise StoreError(
                f"{name} in {self.location}: ends at {offset + len(data)}, expected {offset + length} bytes"
            )
        return data

    def get_versioned(
        self, name: str, known: Versioned | None = None, most: int | None = MAX_DOCUMENT_BYTES
    ) -> Versioned | None:
        """Return a file with the hash of its content as its tag, or None."""
        if (size := self.stat(name)) is None:
            return None
        check_size(name, self.location, size, most)
        with suppress(MissingObject):  # it was deleted meanwhile
            data = self.get(name)
            is_known = known is not None and data == known.data
            return known if is_known else Versioned(data, hashlib.sha256(data).hexdigest())
        return None

    def put(self, name: str, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._try_disk()
        with self._translated_errors(name), self._temporary_file(name, data) as temporary:
            os.replace(temporary, self.root / name)

    def swap(self, name: str, data: bytes, etag: str | None) -> None:
        """Replace a file by a rename, and wait until file and name survive a power cut."""
        with self.locked():
            current = self.get_versioned(name, most=None)
            if (current.etag if current else None) != etag:
                raise Conflict(f"another writer has changed {name} in {self.location}: check it, then try again")
            with self._translated_errors(name), self._temporary_file(name, data) as temporary:
                disk.sync_path(temporary)
                os.replace(temporary, self.root / name)
                for folder in Path(name).parents:  # a rename, and a new folder, are lost without this
                    with suppress(FileNotFoundError):  # another process has deleted the object, and the folder with it
                        disk.sync_path(self.root / folder)

    def sync(self) -> None:
        with self._translated_errors("an object"):
            disk.sync_file_system(self.root)

    def stat(self, name: str) -> int | None:
        try:
            return os.stat(f"{self.root}/{name}").st_size  # noqa: PTH116 -- a Path takes thrice as long, at each 401
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._translated(error, name) from error

    def entries(self, prefix: str, *, deep: bool = True) -> Iterator[Listed]:
        if prefix and not prefix.endswith("/"):
            return filter(None, [_listed(prefix, self.root / prefix)])
        if deep:
            return filter(None, (_listed(*file) for file in self._files(prefix)))
        found = ((entry, "/" if entry.is_dir() else "") for entry in self._scan(prefix))
        return filter(None, (_listed(prefix + entry.name + slash, entry) for entry, slash in found))

    def leftovers(self) -> Iterator[Listed]:
        """Yield the temporary files of writers, also of those that still write."""
        files = self._files("", hidden=True)
        return filter(None, (_listed(*file) for file in files if file[1].name.startswith(disk.TEMPORARY_PREFIX)))

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects and the folders that are then empty. Names that do not exist are ignored."""
        for name in names:
            with self._translated_errors(name):
                (self.root / name).unlink(missing_ok=True)
            with suppress(OSError):  # not empty
                for folder in Path(name).parents[:-1]:
                    (self.root / folder).rmdir()

    def local_path(self, name: str) -> Path:
        return self.root / name

    def _temporary_file(self, name: str, data: bytes) -> AbstractContextManager[str]:
        """Write data to a temporary file in the folder of an object. Yield its path."""
        mode = 0o600 if self._is_private(name) else 0o644
        return disk.written_beside(self.root / name, [data], mode=mode, make_folder=lambda: self._make_folders(name))

    def _make_folders(self, name: str) -> None:
        """Create the folders of an object. Those that exist keep their modes."""
        self._make_root()
        folder = (self.root / name).parent
        disk.make_folder(folder, _PRIVATE_FOLDER_MODE if self._is_private(name) else _FOLDER_MODE)

    def _try_disk(self) -> None:
        """Before the first write of a process to a folder, try whether disk and owner allow what a store needs."""
        if self.location in _TRIED:
            return
        with self._translated_errors(".lock"):
            self._make_root()
        try:
            with disk.written_beside(self.root / "lock", []) as path, Path(path).open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not disk.is_locked(Path(path)):
                    raise OSError(errno.ENOLCK, "one file was locked twice", path)
                for pattern in (self.root, *filter(Path.is_file, map(self.root.joinpath, _DOCUMENTS))):
                    disk.take_after(Path(path), pattern)
                Path(path).unlink()
            _TRIED.add(self.location)
        except PermissionError as error:
            raise self._translated(error, "a new file") from error
        except OSError as error:
            if error.errno in disk.UNSUPPORTED:  # the write itself tells of others
                message = f"{self.location} cannot hold a store: {error.strerror or error}"
                raise StoreError(with_remedy(message, error)) from error

    def _make_root(self) -> None:
        disk.make_folder(self.root.parent)
        disk.make_folder(self.root, _PRIVATE_FOLDER_MODE if self._private else None)

    def _is_private(self, name: str) -> bool:
        return self._private or name.startswith(PRIVATE)

    def _files(self, prefix: str, hidden: bool = False) -> "Iterator[tuple[str, os.DirEntry[str]]]":
        for entry in self._scan(prefix):
            if entry.is_dir():
                if prefix + entry.name != disk.FOLDER_OF_THE_FILE_SYSTEM:
                    yield from self._files(f"{prefix}{entry.name}/", hidden)
            elif hidden or not entry.name.startswith("."):
                yield prefix + entry.name, entry

    def _scan(self, prefix: str) -> "Sequence[os.DirEntry[str]]":
        """List a folder; an absent one is empty. `glob` would also take an unreadable folder for an empty one."""
        try:
            # A lake has thousands of files. Path objects would take ten times as long as texts.
            with os.scandir(f"{self.root}/{prefix}".removesuffix("/")) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):  # it may have been deleted after it was listed
            return []
        except OSError as error:
            raise StoreError(f"{prefix or 'the folder'} in {self.location} cannot be read: {error.strerror}") from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Exclude the `swap` of others, and this context in other processes and threads."""
        self._try_disk()
        with self._translated_errors(".lock"):
            self._make_root()  # a cleaner may have taken it
            lock = disk.open_lock(self.root / ".lock")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    @contextmanager
    def _translated_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._translated(error, name) from error

    def _translated(self, error: OSError, name: str) -> StoreError:
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            return MissingObject(f"{name} is not in {self.location}")
        message = f"{name} in {self.location}: {error.strerror or error}"
        return StoreError(message if isinstance(error, PermissionError) else with_remedy(message, error))


def _listed(name: str, file: "Path | os.DirEntry[str]") -> Listed | None:
    try:
        stat = file.stat()
    except OSError:  # it was deleted after it was listed
        return None
    return Listed(name, stat.st_size, stat.st_mtime, f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ino}")
