"""The files of a lake in a folder."""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from generator.errors import LakeError
from generator.lake import journal
from generator.lake.file_hashes import FileHashes
from generator.lake.files import LakeFile
from generator.terminal.progress import Progress


class FolderFiles:
    """The files of a lake in a folder; see `generator.lake.files.LakeFiles` for its methods."""

    def __init__(self, location: str):
        self._root = Path(location)
        if not self._root.is_dir():
            raise LakeError(
                f"lake {location} is not a folder: make one with `cardpress demo {location}` or `cardpress ingest`"
            )
        self._states: dict[str, tuple[int, ...]] = {}  # of the hashed files, by path

    def read_lock(self) -> AbstractContextManager[None]:
        return journal.read_lock(self._root)

    def list_names(self, daily: Iterable[str]) -> Iterator[str]:
        names = _parquet_files(self._root, "")
        for table in daily:
            for day in _entries(self._root / table):
                if day.name.startswith("day=") and day.is_dir():
                    names += _parquet_files(day.path, f"{table}/{day.name}/")
        return iter(sorted(names, key=lambda name: name.split("/")))

    def read(self, name: str) -> bytes | None:
        try:
            return (self._root / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LakeError(f"{error.filename}: {error.strerror}") from error

    def with_hashes(self, files: list[LakeFile], progress: Progress) -> Iterator[LakeFile]:
        hashes = FileHashes()
        # A lake has thousands of files. Path objects would take ten times as long as texts.
        root, resolved = os.fspath(self._root), os.fspath(self._root.resolve())
        for file in files:
            path = f"{root}/{file.name}"
            try:
                self._states[path] = _state(path)
                sha256, size = hashes.of_file(f"{resolved}/{file.name}"), self._states[path][0]
            except OSError as error:
                raise LakeError(f"{path}: {error.strerror or error}") from error
            yield LakeFile(file.name, file.table, file.day, sha256, path, size)
        hashes.save()

    def modified(self, name: str) -> float:
        try:
            return (self._root / name).stat().st_mtime
        except OSError as error:
            raise LakeError(f"{error.filename}: {error.strerror}") from error

    def fetch(self, table: str, files: list[LakeFile]) -> list[LakeFile]:
        """Return the files as they are: they are local already."""
        return files

    def check_unchanged(self) -> None:
        for path, state in self._states.items():
            try:
                now = _state(path)
            except OSError:
                now = ()
            if now != state:
                raise LakeError(f"{path} changed while the lake was being read: build again")


def _parquet_files(folder: str | Path, prefix: str) -> list[str]:
    """Return the names of the Parquet files of a folder, with a prefix. A hidden file without a stem is none."""
    return [
        prefix + entry.name for entry in _entries(folder) if entry.name[1:].endswith(".parquet") and entry.is_file()
    ]


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    """List a folder; an absent one is empty. `glob` would also take an unreadable folder for an empty one."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise LakeError(f"{folder} in the lake cannot be read: {error.strerror}") from error


def _state(path: str) -> tuple[int, ...]:
    """Return the size, time of change and inode of a file: a changed file differs in one of them."""
    stat = os.stat(path)  # noqa: PTH116
    return stat.st_size, stat.st_mtime_ns, stat.st_ino
