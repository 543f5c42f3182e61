"""Reads files of JSON Lines from scrapers: each line becomes a row, or is refused with its number and the reason."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from edge_auth.store.disk import replace_file
from generator import settings
from generator.errors import IngestError
from generator.ingest.bounded_file import FileLimits, open_bounded
from generator.ingest.csv_lines import csv_rows, is_csv
from generator.ingest.scraped_formats import LineFormat
from generator.ingest.scraped_values import InvalidValue

_MAX_BATCH_ROWS = 20_000  # rows held as Python objects before they become an Arrow batch


@dataclass(frozen=True)
class RefusedLine:
    """A line that is no row, as it is stored in the file of bad lines. `line` counts from 1, `text` is the line."""

    file: str
    line: int
    reason: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}: line {self.line}: {self.reason}"


@dataclass
class LineReader:
    """Collects the rows of files of one format, the refused lines, and the keys that lines have."""

    format: LineFormat
    limits: FileLimits
    lines: int = 0
    refused: list[RefusedLine] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    _batches: list[pa.RecordBatch] = field(default_factory=list)
    _rows: list[tuple[Any, ...]] = field(default_factory=list)

    def read(self, path: Path) -> None:
        """Add the lines of a file, plain or gzip. `-` is standard input. Blank lines are not counted.

        Raises:
            IngestError: The file cannot be read to its end, is too large, or has too many lines that are no rows.
        """
        with open_bounded(path, self.limits) as file:
            lines = file.lines()
            first = next(lines, b"")
            if self.format.is_csv_allowed and is_csv(first):
                self._read_csv(str(path), chain([first], lines))
            else:
                self._read_json(str(path), chain([first], lines))
        self._end_batch()

    def table(self) -> pa.Table:
        """Return all rows, in the order of the files and their lines."""
        return pa.Table.from_batches(self._batches, self.format.schema)

    def _read_json(self, file: str, lines: Iterable[bytes]) -> None:
        for number, line in enumerate(lines, 1):
            stripped = line.strip()
            if stripped:
                self._add(file, number, stripped, _parse_object)

    def _read_csv(self, file: str, lines: Iterable[bytes]) -> None:
        try:
            for number, text, values in csv_rows(lines):
                self._add(file, number, text.encode(), partial(_as_it_is, values))
        except ValueError as error:
            raise IngestError(f"{file}: {error}") from error

    def _add(self, file: str, number: int, line: bytes, parse: Callable[[bytes], dict[str, Any]]) -> None:
        self.lines += 1
        try:
            values = parse(line)
            self.keys.update(values)
            self._rows.append(self.format.parse(values))
        except InvalidValue as error:
            text = line.decode("utf-8", "surrogateescape")
            self.refused.append(RefusedLine(file, number, str(error), text))
            if len(self.refused) > settings.MAX_REFUSED_LINES:
                raise IngestError(
                    f"{self.refused[0]}, and {settings.MAX_REFUSED_LINES:,} more lines: is it the right file?"
                ) from None
        if len(self._rows) >= _MAX_BATCH_ROWS:
            self._end_batch()

    def _end_batch(self) -> None:
        schema = self.format.schema
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(schema)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        self._batches.append(pa.record_batch(arrays, schema))
        self._rows.clear()


def store_refused(path: Path, refused: list[RefusedLine]) -> None:
    """Add refused lines to a file of JSON Lines, each only once. The file is replaced as a whole.

    Raises:
        IngestError: The file cannot be written.
    """
    try:
        stored = path.read_text("utf-8").splitlines() if path.exists() else []
        lines = dict.fromkeys(stored + [json.dumps(asdict(line)) for line in refused])
        replace_file(path, [f"{line}\n".encode() for line in lines])
    except (OSError, ValueError) as error:
        raise IngestError(f"{path}: refused lines cannot be stored: {getattr(error, 'strerror', error)}") from error


def _as_it_is(values: dict[str, Any], _: bytes) -> dict[str, Any]:
    return values


def _parse_object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidValue(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidValue("no JSON object")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
