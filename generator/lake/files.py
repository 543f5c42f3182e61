"""The interface to the files of a lake, wherever they are."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from typing import Protocol

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
