"""A tree in a folder. Files are written beside the tree's own folders, and a rename puts each in place whole."""

import fcntl
import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

from generator.errors import ExportError
from generator.tree.documents import TreeBody
from generator.tree.record import RECORD, TreeRecord
from generator.tree.target import GZIP_SUFFIX

_WRITING = ".cardpress-export.tmp"  # the folder of files that are being written


class FolderTarget:
    """A tree in a folder; see `generator.tree.target.Target` for its methods.

    Raises:
        ExportError: The location is a file, cannot be written, or another export is writing to it.
    """

    threads = 4

    def __init__(self, location: str):
        self.location = location
        self._root = Path(location)
        self._numbers = itertools.count()
        self._made: set[Path] = set()
        self._record: bytes | None = None

    def __enter__(self) -> Self:
        with _translated_errors():
            if self._root.exists() and not self._root.is_dir():
                raise ExportError(f"{self.location} is a file: name the folder of the tree, or a new one")
            self._root.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self._root, os.O_RDONLY)
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ExportError(f"another export is writing to {self.location}: wait until it has ended") from error
            shutil.rmtree(self._root / _WRITING, ignore_errors=True)  # of a run that was killed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self._root / _WRITING, ignore_errors=True)
        os.close(self._lock)

    def suffixes(self, gzip: bool) -> tuple[str, ...]:
        """Return what is appended to the name of a document, for each of its files."""
        return ("", GZIP_SUFFIX) if gzip else ("",)

    def files(self) -> dict[str, int]:
        """Return the size of every file but the record, by name; -1 for what is no file."""
        with _translated_errors():
            return {name: size for name, size in _walk(self._root, "") if name != RECORD}

    def read_record(self) -> TreeRecord | None:
        """Return the record, or None."""
        with _translated_errors(), suppress(FileNotFoundError):
            self._record = (self._root / RECORD).read_bytes()
        return None if self._record is None else TreeRecord.from_bytes(self._record, self.location)

    def write_record(self, record: TreeRecord) -> None:
        """Replace the record, if it differs."""
        data = record.to_bytes()
        if data != self._record:
            self._put(RECORD, data)
            self._record = data

    def write(self, name: str, body: TreeBody, suffix: str) -> int:
        """Write a file whole, and return its size."""
        data = body.member if suffix else body.plain
        self._put(name, data)
        return len(data)

    def delete(self, names: list[str]) -> None:
        """Delete files, and folders that are then empty."""
        with _translated_errors():
            for name in names:
                (self._root / name).unlink(missing_ok=True)
            folders = {str(folder) for name in names for folder in PurePosixPath(name).parents[:-1]}
            for folder in sorted(folders, reverse=True):  # inner ones first
                with suppress(OSError):  # not empty
                    (self._root / folder).rmdir()

    def _put(self, name: str, data: bytes) -> None:
        path, temporary = self._root / name, self._root / _WRITING / str(next(self._numbers))
        with _translated_errors():
            for folder in (temporary.parent, path.parent):
                if folder not in self._made:
                    folder.mkdir(parents=True, exist_ok=True)
                    self._made.add(folder)
            temporary.write_bytes(data)
            os.replace(temporary, path)


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, int]]:
    """Yield the files below a folder with their sizes. Links are not followed."""
    with os.scandir(folder) as entries:
        found = list(entries)
    if not found and prefix:
        yield prefix, -1
    for entry in found:
        name = prefix + entry.name
        if entry.is_dir(follow_symlinks=False):
            if name != _WRITING:
                yield from _walk(Path(entry.path), f"{name}/")
        else:
            yield name, entry.stat(follow_symlinks=False).st_size if entry.is_file(follow_symlinks=False) else -1


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExportError(f"{error.filename}: {error.strerror}") from error
