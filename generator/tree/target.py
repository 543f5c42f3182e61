"""The interface of a target of an export."""

from types import TracebackType
from typing import Protocol, Self

from generator.tree.documents import TreeBody
from generator.tree.record import TreeRecord

GZIP_SUFFIX = ".gz"


class Target(Protocol):
    """A folder or a bucket that holds a tree. It is a context in which no other export writes to it.

    Attributes:
        threads: How many documents are written at the same time.
    """

    location: str
    threads: int

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def suffixes(self, gzip: bool) -> tuple[str, ...]:
        """Return what is appended to the name of a document, for each of its files.

        Args:
            gzip: Whether a compressed file is wanted beside each file.

        Raises:
            ExportError: The target cannot have one.
        """
        ...

    def files(self) -> dict[str, int]:
        """Return the size in bytes of every file but the record, by name; -1 for what is no file.

        The name of an empty folder ends in a slash.
        """
        ...

    def read_record(self) -> TreeRecord | None:
        """Return the record, or None.

        Raises:
            ExportError: It cannot be read.
        """
        ...

    def write_record(self, record: TreeRecord) -> None:
        """Replace the record, if it differs.

        Raises:
            ExportError: Another export is writing to the target.
        """
        ...

    def write(self, name: str, body: TreeBody, suffix: str) -> int:
        """Write a file whole, so that a reader sees the old bytes or the new ones. Return its size in bytes.

        Raises:
            ExportError, StoreError: It cannot be written.
        """
        ...

    def delete(self, names: list[str]) -> None:
        """Delete files, and folders that are then empty."""
        ...
