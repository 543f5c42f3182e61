"""Reads the lines of tables and scrapers: each becomes a row, or is refused with its number and the reason."""

import json
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from edge_auth.store.disk import replace_file
from generator import settings
from generator.errors import IngestError
from generator.ingest.bounded_file import FileLimits, open_bounded
from generator.ingest.csv_tables import GivenLine, TableKeys, csv_rows, undecoded
from generator.ingest.formats import LineFormat
from generator.ingest.prices import PriceMarks, PriceText
from generator.ingest.values import InvalidValue, quoted_json, refuse_constant, unrepeated

_MAX_BATCH_ROWS = 20_000  # rows held as Python objects before they become an Arrow batch
_ARRAY = "it is one JSON array: write each object on a line of its own, as `jq -c '.[]'` does"

_Row = tuple[Any, ...]


def given_lines(lines: Iterable[str], keys: TableKeys | None) -> Iterator[GivenLine]:
    """Yield the lines of a file of JSON Lines; with `keys`, those of a CSV file as well. Blank lines are left out.

    Raises:
        ValueError: The file is neither.
    """
    source = iter(lines)
    blank = []
    first = next(source, "")
    while first and not first.strip("\ufeff \t\r\n"):
        blank.append(first)
        first = next(source, "")
    again = chain(blank, [first], source)
    if keys and first and not first.lstrip().startswith(("{", "[")):
        yield from csv_rows(again, keys)
        return
    if first.rstrip() == "[" or first.lstrip().startswith("[{"):
        raise ValueError(_ARRAY)
    for number, line in enumerate(again, 1):
        if text := line.strip():
            yield _json_line(number, text)


def _json_line(number: int, text: str) -> GivenLine:
    problem, value = undecoded(text), None
    if not problem:
        try:
            value = json.loads(text, parse_constant=refuse_constant, object_pairs_hook=unrepeated)
        except InvalidValue as error:
            return GivenLine(number, text, {}, f"{error}: {quoted_json(text)}")
        except json.JSONDecodeError as error:
            problem = f"{error.msg.removesuffix(' at')} at character {error.pos + 1}: {quoted_json(text)}"
        except (ValueError, RecursionError) as error:
            problem = f"{error}: {quoted_json(text)}"
    if problem:
        return GivenLine(number, text, {}, f"not JSON: {problem}")
    if not isinstance(value, dict):
        return GivenLine(number, text, {}, f"no JSON object, but {quoted_json(value)}")
    return GivenLine(number, text, value, "")


class RefusedLine(NamedTuple):
    """A line that is no row, as it is stored in the file of bad lines. `line` counts from 1, `text` is the line."""

    file: str
    line: int
    reason: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}: line {self.line}: {self.reason}"


@dataclass
class FileLines:
    """What was read from a file: its rows and the numbers of their lines, and how many lines it has and lost."""

    path: Path
    rows: pa.Table
    lines: int = 0
    refused: int = 0
    numbers: "array[int]" = field(default_factory=lambda: array("q"))


@dataclass
class LineReader:
    """Collects the rows of files of one format, the refused lines, and the keys that lines have."""

    format: LineFormat
    limits: FileLimits
    refused: list[RefusedLine] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    files: list[FileLines] = field(default_factory=list)

    @property
    def lines(self) -> int:
        """How many lines the files have, refused ones included."""
        return sum(file.lines for file in self.files)

    def read(self, path: Path) -> FileLines:
        """Add the lines of a file, plain or compressed. `-` is standard input. Blank lines are not counted.

        Raises:
            IngestError: The file cannot be read to its end, is too large, has no such columns, uses a mark of prices in
                two ways, or has too many lines that are no rows.
        """
        reading = _Reading(self.format, path, self.refused)
        with open_bounded(path, self.limits) as file:
            try:
                for line in given_lines(file.lines(), self.format.header if self.format.is_csv_allowed else None):
                    self.keys.update(line.values)
                    reading.add(line)
                self.files.append(reading.end())
            except ValueError as error:
                raise IngestError(f"{path}: {error}") from error
        return self.files[-1]

    def table(self) -> pa.Table:
        """Return all rows."""
        return pa.concat_tables([self.format.schema.empty_table(), *(file.rows for file in self.files)])

    def place(self, row: int) -> str:
        """Return the file and the line of a row of `table()`."""
        for file in self.files:
            if row < len(file.numbers):
                return f"{file.path}: line {file.numbers[row]}"
            row -= len(file.numbers)
        raise AssertionError("the row is of none of the files")


class _Reading:
    """The lines of one file while it is read. Rows whose prices have two readings wait for the end."""

    def __init__(self, line_format: LineFormat, path: Path, refused: list[RefusedLine]):
        self._format = line_format
        self._found = FileLines(path, line_format.schema.empty_table())
        self._all_refused = refused
        self._refused: list[RefusedLine] = []
        self._marks = PriceMarks()
        self._rows: list[_Row] = []
        self._waiting: list[tuple[GivenLine, _Row]] = []
        self._batches: list[pa.RecordBatch] = []

    def add(self, line: GivenLine) -> None:
        """Take a line, or refuse it. Raise ValueError if it uses a mark of prices in two ways."""
        self._found.lines += 1
        try:
            if line.problem:
                raise InvalidValue(line.problem)
            row = self._format.parse(line.values)
        except InvalidValue as error:
            self._refuse(line, error)
            return
        prices = list(_price_texts(row))
        for price in prices:
            self._marks.add(line.number, price)
        if any(price.other is not None for price in prices):
            self._waiting.append((line, row))
        else:
            self._take(line, self._settled(row) if prices else row)

    def end(self) -> FileLines:
        """Read what waited, and return all that was read. Raise ValueError if the file uses a mark in two ways."""
        self._marks.check()
        for line, row in self._waiting:
            try:
                self._take(line, self._settled(row))
            except InvalidValue as error:
                self._refuse(line, error)
        self._end_batch()
        self._found.rows = pa.Table.from_batches(self._batches, self._format.schema)
        self._found.refused = len(self._refused)
        self._all_refused += sorted(self._refused, key=lambda refused: refused.line)
        return self._found

    def _settled(self, row: _Row) -> _Row:
        """Return a row whose prices are numbers. Raise InvalidValue if one has two readings."""
        return tuple(
            self._marks.value(value, name)
            if isinstance(value, PriceText)
            else [self._settled_offer(place, offer) for place, offer in enumerate(value, 1)]
            if isinstance(value, list)
            else value
            for name, value in zip(self._format.columns, row, strict=True)
        )

    def _settled_offer(self, place: int, offer: dict[str, Any]) -> dict[str, Any]:
        return {
            name: self._marks.value(value, f"offer {place}: {name}") if isinstance(value, PriceText) else value
            for name, value in offer.items()
        }

    def _take(self, line: GivenLine, row: _Row) -> None:
        self._found.numbers.append(line.number)
        self._rows.append(row)
        if len(self._rows) >= _MAX_BATCH_ROWS:
            self._end_batch()

    def _refuse(self, line: GivenLine, error: InvalidValue) -> None:
        refused = self._refused
        refused.append(RefusedLine(str(self._found.path), line.number, str(error), line.text))
        if len(refused) + len(self._all_refused) > settings.MAX_REFUSED_LINES:
            raise IngestError(f"{refused[0]}, and {settings.MAX_REFUSED_LINES:,} more lines: is it the right file?")

    def _end_batch(self) -> None:
        schema = self._format.schema
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(schema)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        self._batches.append(pa.record_batch(arrays, schema))
        self._rows.clear()


def _price_texts(row: _Row) -> Iterator[PriceText]:
    for value in row:
        if isinstance(value, PriceText):
            yield value
        elif isinstance(value, list):
            yield from (member for offer in value for member in offer.values() if isinstance(member, PriceText))


def store_refused(path: Path, refused: list[RefusedLine]) -> None:
    """Add refused lines to a file of JSON Lines, each only once. The file is replaced as a whole.

    Raises:
        IngestError: The file cannot be written.
    """
    try:
        stored = path.read_text("utf-8").splitlines() if path.exists() else []
        lines = dict.fromkeys(stored + [json.dumps(line._asdict()) for line in refused])
        replace_file(path, [f"{line}\n".encode() for line in lines])
    except (OSError, ValueError) as error:
        raise IngestError(f"{path}: refused lines cannot be stored: {getattr(error, 'strerror', error)}") from error
