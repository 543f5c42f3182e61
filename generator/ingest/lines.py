"""Files of JSON Lines as scrapers write them: each line becomes a row, or is refused with its number and the reason."""

import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from generator.errors import IngestError
from generator.ingest.shapes import Shape
from generator.ingest.values import Refusal

STDIN = Path("-")
_GZIP_MAGIC = b"\x1f\x8b"
_BATCH = 20_000  # rows that wait as Python objects


@dataclass(frozen=True)
class RefusedLine:
    """A line that is no row, as it is kept: `line` counts from 1, `text` is all of it."""

    file: str
    line: int
    reason: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}: line {self.line}: {self.reason}"


@dataclass
class Sheet:
    """The rows of files of one shape, and the lines that were refused."""

    shape: Shape
    lines: int = 0
    refused: list[RefusedLine] = field(default_factory=list)
    _batches: list[pa.RecordBatch] = field(default_factory=list)
    _rows: list[tuple] = field(default_factory=list)

    def read(self, path: Path) -> None:
        """Add a file, plain or gzip; `-` is standard input. Blank lines say nothing and are not counted.

        Raises:
            IngestError: the file cannot be read to its end.
        """
        with _opened(path) as stream:
            for number, line in enumerate(stream, 1):
                stripped = line.strip()
                if stripped:
                    self._add(str(path), number, stripped)
        self._batch()

    def table(self) -> pa.Table:
        """All rows, in the order of the files and their lines."""
        return pa.Table.from_batches(self._batches, self.shape.schema)

    def _add(self, file: str, number: int, line: bytes) -> None:
        self.lines += 1
        try:
            self._rows.append(self.shape.row(_object(line)))
        except Refusal as refusal:
            written = line.decode("utf-8", "surrogateescape")
            self.refused.append(RefusedLine(file, number, str(refusal), written))
        if len(self._rows) >= _BATCH:
            self._batch()

    def _batch(self) -> None:
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(self.shape.schema)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, self.shape.schema, strict=True)]
        self._batches.append(pa.record_batch(arrays, self.shape.schema))
        self._rows.clear()


def keep_refused(path: Path, refused: list[RefusedLine]) -> None:
    """Add refused lines to a file of JSON Lines, those that it does not have yet; it appears whole.

    Raises:
        IngestError: the file cannot be written.
    """
    try:
        kept = path.read_text("utf-8").splitlines() if path.exists() else []
        lines = dict.fromkeys(kept + [json.dumps(asdict(line)) for line in refused])
        beside = path.with_name(f".{path.name}.writing")
        beside.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        beside.replace(path)
    except (OSError, ValueError) as error:
        raise IngestError(f"{path}: refused lines cannot be kept: {getattr(error, 'strerror', error)}") from error


def _object(line: bytes) -> dict:
    try:
        value = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refusal(f"not JSON: {error}") from None
    if type(value) is not dict:
        raise Refusal("no JSON object")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with _binary(path) as stream:
            if stream.peek(2)[:2] != _GZIP_MAGIC:
                yield stream
                return
            with gzip.open(stream) as unpacked:
                yield unpacked
    except (OSError, EOFError, zlib.error) as error:  # gzip's own BadGzipFile is an OSError
        raise IngestError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _binary(path: Path) -> io.BufferedReader:
    return open(sys.stdin.fileno(), "rb", closefd=False) if path == STDIN else path.open("rb")
