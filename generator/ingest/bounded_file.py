"""Reads a file for an import, plain or compressed, up to a size. A small file may be large once inflated."""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from generator import settings
from generator.errors import IngestError

STDIN = Path("-")
_OPENERS: dict[bytes, Callable[[io.BufferedReader], io.BufferedIOBase]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}  # by how the file begins
_LONGEST_MAGIC = max(map(len, _OPENERS))


class FileLimits(NamedTuple):
    """The largest sizes that an import reads, in bytes.

    Attributes:
        file_bytes: Of one file, after inflating.
        line_bytes: Of one line.
    """

    file_bytes: int
    line_bytes: int = settings.MAX_LINE_BYTES


DOWNLOAD_LIMITS = FileLimits(settings.MAX_DOWNLOAD_BYTES)
LINES_LIMITS = FileLimits(settings.MAX_LINES_BYTES)


class BoundedFile:
    """A file that is open for reading. Its methods raise IngestError beyond the limits."""

    def __init__(self, path: Path, stream: io.BufferedIOBase, limits: FileLimits):
        self._path = path
        self._stream = stream
        self._limits = limits
        self._size = 0

    def read(self) -> bytes:
        """Return the whole file.

        Raises:
            IngestError: The file is larger than the limit.
        """
        data = self._stream.read(self._limits.file_bytes + 1)
        self._check_size(len(data))
        return data

    def start(self, size: int) -> bytes:
        """Return the first bytes of the file, at most `size`."""
        return self._stream.read(size)

    def some(self, size: int) -> bytes:
        """Return up to so many of the next bytes, and none at the end.

        Raises:
            IngestError: The file is larger than the limit.
        """
        data = self._stream.read(size)
        self._size += len(data)
        self._check_size(self._size)
        return data

    def lines(self) -> Iterator[bytes]:
        """Yield the lines with their ends.

        Raises:
            IngestError: A line, or the file, is larger than its limit.
        """
        size = 0
        limit = self._limits.line_bytes
        for number in range(1, sys.maxsize):
            line = self._stream.readline(limit + 1)
            if not line:
                return
            if len(line) > limit:
                raise IngestError(
                    f"{self._path}: line {number} has more than {limit:,} bytes: repair it, or raise --max-line-kb"
                )
            size += len(line)
            self._check_size(size)
            yield line

    def _check_size(self, size: int) -> None:
        if size > self._limits.file_bytes:
            raise IngestError(
                f"{self._path}: more than {self._limits.file_bytes / 1e6:,.0f} MB after inflating: "
                "split it, or raise --max-file-mb if the machine has the memory"
            )


@contextmanager
def open_bounded(path: Path, limits: FileLimits) -> Iterator[BoundedFile]:
    """Open a file. `-` is standard input.

    Raises:
        IngestError: The file cannot be read, here or in the `with` block.
    """
    try:
        with _open_binary(path) as stream:
            start = stream.peek(_LONGEST_MAGIC)
            opener = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)
            if opener is None:
                yield BoundedFile(path, stream, limits)
                return
            with opener(stream) as inflated:
                yield BoundedFile(path, inflated, limits)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:  # gzip's own BadGzipFile is an OSError
        raise IngestError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _open_binary(path: Path) -> io.BufferedReader:
    return open(sys.stdin.fileno(), "rb", closefd=False) if path == STDIN else path.open("rb")
