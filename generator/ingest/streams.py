"""Reads files for an import, plain or compressed, up to a size: their bytes, their lines, or their JSON value by value.

A small file may be large once inflated. Text is UTF-8, or UTF-16 or UTF-32 if the first bytes of the file prove it: by
its mark, or by zero bytes beside an ASCII character, since text has none. A file that cannot be read, or is beyond the
limits, raises IngestError.
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
from json import detect_encoding
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from generator import settings
from generator.errors import IngestError
from generator.ingest.values import unrepeated

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
    b"7z\xbc\xaf": "a 7-Zip archive: unpack it",
    b"Rar!": "a RAR archive: unpack it",
    b"SQLite format 3": "a database of SQLite: save its table as CSV",
    b"version https://git-lfs": "a pointer of Git LFS, and not the file: run `git lfs pull`",
    b"\0" * 8: "filled with zeros, as a crash leaves it: copy or download it again",
    b"PAR1": "Parquet: give CSV or JSON, or put it into the lake",
}  # what is not read, by how the file begins
_HTML = (b"<!doctype html", b"<html")
_MOST_TIMES_COMPRESSED = 3  # a browser may store what a server compressed, and pack it again
_START_BYTES = 65_536
_LONGEST_MAGIC = max(map(len, (*_OPENERS, *_OTHERS)))
_BEGINS = {"start_array": "[", "start_map": "{", "end_array": "]", "end_map": "}"}


class OtherFile(IngestError):
    """A file that is of a kind that no import reads. The message says of which, and what to do."""


class FileLimits(NamedTuple):
    """The most bytes that an import reads: of one file, after inflating, and of one line."""

    file_bytes: int
    line_bytes: int | None = None  # where no option says it, the usual ones


class _Bounded(io.RawIOBase):
    """The bytes of a file, inflated."""

    def __init__(self, path: Path, stream: Any, most: int):
        self._path, self._stream, self._most, self._size = path, stream, most, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer)
        self._size += count
        if self._size > self._most:
            raise IngestError(
                f"{self._path}: more than {self._most / 1e6:,.0f} MB after inflating: "
                "split it, or raise --max-file-mb if the machine has the memory"
            )
        return count


def _refuse_others(path: Path, start: bytes) -> None:
    """Raise IngestError for a file that begins as one that is not read."""
    is_html = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_HTML)
    page = "a web page, perhaps of an error: download the file again" if is_html else ""
    if what := next((what for magic, what in _OTHERS.items() if start.startswith(magic)), page):
        raise OtherFile(f"{path}: it is {what}")


@contextmanager
def open_bounded(path: Path, limits: FileLimits) -> Iterator[io.BufferedReader]:
    """Open a file to read its bytes, inflated. `-` is standard input."""
    try:
        with open(sys.stdin.fileno(), "rb", closefd=False) if path == STDIN else path.open("rb") as stream:
            inflated: Any = stream
            for _ in range(_MOST_TIMES_COMPRESSED):
                start = inflated.peek(_LONGEST_MAGIC)
                _refuse_others(path, start)
                opener = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)
                if opener is None:
                    break
                inflated = io.BufferedReader(_Bounded(path, opener(inflated), limits.file_bytes))
            yield inflated if inflated is not stream else io.BufferedReader(_Bounded(path, stream, limits.file_bytes))
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:  # gzip's own BadGzipFile is an OSError
        raise IngestError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def start_of(path: Path, limits: FileLimits) -> str:
    """Return the beginning of the text of a file. What cannot be decoded is replaced."""
    with open_bounded(path, limits) as file:
        start = file.read(_START_BYTES)
    return start.decode(detect_encoding(start), "replace")


def lines_of(path: Path, limits: FileLimits) -> Iterator[str]:
    """Yield the lines of a file with their ends, whichever these are. A byte that is no UTF-8 becomes a surrogate."""
    most = limits.line_bytes or settings.MAX_LINE_BYTES
    with open_bounded(path, limits) as file:
        encoding = detect_encoding(file.peek(4))
        text = io.TextIOWrapper(file, encoding, "surrogateescape", newline="")
        for number in range(1, sys.maxsize):
            try:
                line = text.readline(most + 1)
            except UnicodeDecodeError as error:
                raise IngestError(f"{path}: line {number}: no {encoding}: {error.reason}") from None
            if not line:
                return
            if len(line) > most:
                advice = "repair it, or raise --max-line-kb" if limits.line_bytes else "repair it"
                raise IngestError(f"{path}: line {number} has more than {most:,} bytes: {advice}")
            yield line


class JsonStream:
    """The documents of a stream. Raises ValueError for no JSON, its cut end, a value too long, or a key twice."""

    def __init__(self, source: BinaryIO):
        import ijson  # only files of cards need it

        self._fault: type[Exception] = ijson.JSONError
        self._source = source
        self._decode: Callable[[bytes, bool], str] | None = None
        self._size, self._begun = 0, 0  # characters that were read; where the value that is read began
        self._events = ijson.basic_parse(self, multiple_values=True, use_float=True)
        self._ahead: tuple[str, Any] | None = None

    def peek(self) -> str:
        """Return how the next value begins: `[`, `{`, '"' for any that is no array and no object, '' at the end."""
        self._begun = self._size
        if self._ahead is None:
            self._ahead = self._next()
        return _BEGINS.get(self._ahead[0], '"' if self._ahead[0] else "")

    def value(self) -> Any:
        self._begun = self._size
        return self._value(*self._take())

    def items(self) -> Iterator[None]:
        """Yield before each item of an array. The item must be read before the next step."""
        self._take()
        while self.peek() != "]":
            yield
        self._take()

    def members(self) -> Iterator[str]:
        """Yield the name of each member of an object. Its value must be read before the next step."""
        self._take()
        names: set[str] = set()
        while self.peek() != "}":
            _, name = self._take()
            unrepeated([(name, None), *([(name, None)] if name in names else [])])
            names.add(name)
            yield name
        self._take()

    def read(self, size: int) -> bytes:
        """Return the next bytes in UTF-8, for the parser."""
        if not size:  # the parser asks what kind of stream it is
            return b""
        data = self._source.read(size)
        if self._decode is None:
            self._decode = codecs.getincrementaldecoder(detect_encoding(data))().decode
        text = self._decode(data, not data)
        self._size += len(text)
        if self._size - self._begun > settings.MAX_CARD_CHARACTERS:
            raise ValueError(f"a value has more than {settings.MAX_CARD_CHARACTERS:,} characters")
        return text.encode() or (self.read(size) if data else b"")

    def _value(self, event: str, value: Any) -> Any:
        if event == "start_array":
            return [self._value(*found) for found in iter(self._take, ("end_array", None))]
        if event == "start_map":
            return unrepeated([(name, self._value(*self._take())) for _, name in iter(self._take, ("end_map", None))])
        return value

    def _take(self) -> tuple[str, Any]:
        found, self._ahead = self._ahead or self._next(), None
        if not found[0]:
            raise ValueError("it is cut off")
        return found

    def _next(self) -> tuple[str, Any]:
        """Return the next event of the parser, ("", None) at the end."""
        try:
            found: tuple[str, Any] = next(self._events, ("", None))
            return found
        except self._fault as error:
            if "premature EOF" not in str(error):
                raise ValueError(f"it is no JSON: {str(error).splitlines()[0].rstrip('.')}") from None
            if not self._size:
                return "", None
            raise ValueError("it is cut off") from None
        except RecursionError:
            raise ValueError("a value is nested too deeply") from None
