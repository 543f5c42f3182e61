"""The files of a lake in a folder."""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from generator.errors import LakeError
from generator.lake.file_hashes import Hashes
from generator.lake.files import LakeFile
from generator.lake.journal import settled
from generator.progress import Progress


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
