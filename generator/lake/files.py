"""The interface to the files of a lake. `folder` and `bucket` implement it."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from generator.terminal.progress import Progress


@dataclass(frozen=True)
class LakeFile:
    """One file of a table.

    Attributes:
        name: Path within the lake, with `/`.
        day: Day of its partition. None for a table without partitions.
        sha256: Hash of the content, '' until `LakeFiles.with_hashes` has set it.
        size: In bytes.
        path: Local path of the file, or the path that it will have after `LakeFiles.fetch`.
    """

    name: str
    table: str
    day: date | None
    sha256: str = ""
    path: str = ""
    size: int = 0


class LakeFiles(Protocol):
    """The files of a lake. Every method raises LakeError if they cannot be read."""

    def read_lock(self) -> AbstractContextManager[None]:
        """Keep imports out while files are listed and hashed, if the backend has locks."""
        ...

    def list_names(self, daily: Iterable[str]) -> Iterator[str]:
        """List the files at the top of the lake and in the partitions `<table>/day=…/` of the daily tables."""
        ...

    def read(self, name: str) -> bytes | None:
        """Return the content of a small file, or None if it does not exist."""
        ...

    def with_hashes(self, files: list[LakeFile], progress: Progress) -> Iterator[LakeFile]:
        """Yield the files in the same order, with their hashes, sizes and paths."""
        ...

    def modified(self, name: str) -> float:
        """Return when a listed file was written, in Unix time."""
        ...

    def fetch(self, table: str, files: list[LakeFile]) -> list[LakeFile]:
        """Copy these files to their local paths. They stay there until other files of the same table are fetched."""
        ...

    def check_unchanged(self) -> None:
        """Raise LakeError if a file has changed since it was hashed."""
        ...
