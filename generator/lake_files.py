"""What lies in a lake, file by file, wherever that is; and lakes in a folder."""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Protocol

from generator.errors import LakeError
from generator.hashes import Hashes
from generator.ingest.journal import settled
from generator.progress import Progress


@dataclass(frozen=True)
class LakeFile:
    """One file of a table.

    Attributes:
        name: relative to the lake, with `/`.
        day: of its partition; None where the table has none.
        sha256: of its content.
        size: in bytes.
        path: where it lies, or will lie once it is fetched.
    """

    name: str
    table: str
    day: date | None
    sha256: str = ""
    path: str = ""
    size: int = 0


class LakeFiles(Protocol):
    """The files of a lake. Every method raises LakeError where they cannot be read."""

    def settled(self) -> AbstractContextManager:
        """Holds the lake still while its files are looked at, where there is a way to."""
        ...

    def names(self, daily: Iterable[str]) -> Iterator[str]:
        """Names of the files of the lake itself, and of the partitions `<table>/day=…/` of the daily tables."""
        ...

    def read(self, name: str) -> bytes | None:
        """The content of a small file, or None where it does not exist."""
        ...

    def identified(self, files: list[LakeFile], progress: Progress) -> Iterator[LakeFile]:
        """The files, in the same order, with their digests and paths."""
        ...

    def fetch(self, table: str, files: list[LakeFile]) -> list[LakeFile]:
        """Have these files of a table at their paths on this machine, until others of the same table are asked for."""
        ...

    def check_still(self) -> None:
        """Raises LakeError where a file is no longer the one that was identified."""
        ...


class FolderFiles:
    """The files of a lake in a folder."""

    def __init__(self, location: str):
        self._root = Path(location)
        if not self._root.is_dir():
            raise LakeError(
                f"lake {location} is not a folder: make one with `cardpress demo {location}` or `cardpress ingest`"
            )
        self._seen: dict[Path, tuple[int, ...]] = {}

    def settled(self) -> AbstractContextManager:
        return settled(self._root)

    def names(self, daily: Iterable[str]) -> Iterator[str]:
        found = _parquet(self._root)
        for table in daily:
            for day in _entries(self._root / table):
                if day.name.startswith("day=") and day.is_dir():
                    found += _parquet(day)
        return (path.relative_to(self._root).as_posix() for path in sorted(found))

    def read(self, name: str) -> bytes | None:
        try:
            return (self._root / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LakeError(f"{error.filename}: {error.strerror}") from error

    def identified(self, files: list[LakeFile], progress: Progress) -> Iterator[LakeFile]:
        hashes = Hashes()
        for file in files:
            path = self._root / file.name
            try:
                self._seen[path] = _state(path)
                sha256, size = hashes.of_file(path), self._seen[path][0]
                yield replace(file, sha256=sha256, path=os.fspath(path), size=size)
            except OSError as error:
                raise LakeError(f"{path}: {error.strerror or error}") from error
        hashes.save()

    def fetch(self, table: str, files: list[LakeFile]) -> list[LakeFile]:
        """They lie where they are."""
        return files

    def check_still(self) -> None:
        for path, state in self._seen.items():
            try:
                now = _state(path)
            except OSError:
                now = ()
            if now != state:
                raise LakeError(f"{path} changed while the lake was being read: build again")


def _parquet(folder: Path) -> list[Path]:
    return [path for path in _entries(folder) if path.suffix == ".parquet" and path.is_file()]


def _entries(folder: Path) -> list[Path]:
    """What is in a folder, nothing where there is none. `glob` would take one that may not be read for an empty one."""
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise LakeError(f"{folder} in the lake cannot be read: {error.strerror}") from error


def _state(path: Path) -> tuple[int, ...]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ino
