"""Reads a file for an import, plain or compressed, up to a size. A small file may be large once inflated.

Text is UTF-8, or what the first bytes of the file prove: UTF-16 and UTF-32 by their mark, or by the zero bytes between
ASCII characters, since text has none.
"""

import bz2
import codecs
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from generator import settings
from generator.errors import IngestError

STDIN = Path("-")
_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}  # by how the file begins
_OTHERS = {
    b"PK\x03\x04": "a zip archive or a spreadsheet: unpack it, or save it as CSV",
    b"\xd0\xcf\x11\xe0": "a spreadsheet: save it as CSV",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: inflate it, or use gzip",
    b"%PDF": "a PDF: save its table as CSV",
    b"PAR1": "Parquet: give CSV or JSON, or put it into the lake",
}  # what is not read, by how the file begins
_LONGEST_MAGIC = max(map(len, (*_OPENERS, *_OTHERS)))
_ENCODINGS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}  # by how the file begins


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

    def __init__(self, path: Path, stream: Any, limits: FileLimits):
        self._path = path
        self._stream = stream
        self._limits = limits
        self._size = 0

    def read(self) -> bytes:
        """Return the whole file.

        Raises:
            IngestError: The file is larger than the limit.
        """
        data: bytes = self._stream.read(self._limits.file_bytes + 1)
        self._check_size(len(data))
        return data

    def start(self, size: int) -> bytes:
        """Return the first bytes of the file, at most `size`."""
        start: bytes = self._stream.read(size)
        return start

    def some(self, size: int) -> bytes:
        """Return up to so many of the next bytes, and none at the end.

        Raises:
            IngestError: The file is larger than the limit.
        """
        data: bytes = self._stream.read(size)
        self._size += len(data)
        self._check_size(self._size)
        return data

    def lines(self) -> Iterator[str]:
        """Yield the lines with their ends, whichever these are. A byte that is no UTF-8 becomes half a surrogate pair.

        Raises:
            IngestError: A line, or the file, is larger than its limit.
        """
        encoding = encoding_of(self._stream.peek(4))
        text = io.TextIOWrapper(self._stream, encoding, "surrogateescape", newline="")
        limit = self._limits.line_bytes
        for number in range(1, sys.maxsize):
            try:
                line = text.readline(limit + 1)
            except UnicodeDecodeError as error:
                raise IngestError(f"{self._path}: line {number}: no {encoding}: {error.reason}") from None
            if not line:
                return
            if len(line) > limit:
                raise IngestError(
                    f"{self._path}: line {number} has more than {limit:,} bytes: repair it, or raise --max-line-kb"
                )
            self._size += len(line)
            self._check_size(self._size)
            yield line

    def _check_size(self, size: int) -> None:
        if size > self._limits.file_bytes:
            raise IngestError(
                f"{self._path}: more than {self._limits.file_bytes / 1e6:,.0f} MB after inflating: "
                "split it, or raise --max-file-mb if the machine has the memory"
            )


def encoding_of(start: bytes) -> str:
    """Return the encoding of a text that begins with these bytes: four, or all of them."""
    for mark, encoding in _ENCODINGS.items():
        if start.startswith(mark):
            return encoding
    zeros = tuple(byte == 0 for byte in start[:4])
    if zeros == (True, True, True, False):
        return "utf-32-be"
    if zeros == (False, True, True, True):
        return "utf-32-le"
    if zeros[:2] == (True, False):
        return "utf-16-be"
    return "utf-16-le" if zeros[:2] == (False, True) else "utf-8"


@contextmanager
def open_bounded(path: Path, limits: FileLimits) -> Iterator[BoundedFile]:
    """Open a file. `-` is standard input.

    Raises:
        IngestError: The file cannot be read, here or in the `with` block.
    """
    try:
        with _open_binary(path) as stream:
            start = stream.peek(_LONGEST_MAGIC)
            for magic, what in _OTHERS.items():
                if start.startswith(magic):
                    raise IngestError(f"{path}: it is {what}")
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
