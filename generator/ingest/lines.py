"""Reads the lines of tables and scrapers: each becomes a row, or is refused with its number and the reason."""

import json
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from edge_auth.store.disk import replace_file
from generator import settings
from generator.errors import IngestError
from generator.ingest.bounded_file import FileLimits, lines_of
from generator.ingest.csv_tables import GivenLine, TableKeys, csv_rows, undecoded
from generator.ingest.formats import LineFormat
from generator.ingest.prices import PriceMarks, PriceText
from generator.ingest.values import InvalidValue, quoted_json, refuse_constant, unrepeated

_MAX_BATCH_ROWS = 20_000  # rows held as Python objects before they become an Arrow batch
_ARRAY = "it is one JSON array: write each object on a line of its own, as `jq -c '.[]'` does"

_Row = tuple[Any, ...]


def given_lines(path: Path, limits: FileLimits, keys: TableKeys | None) -> Iterator[GivenLine]:
    """Yield the lines of JSON Lines, or with `keys` of CSV, without blank ones. Raise ValueError for another file."""
    source = lines_of(path, limits)
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


class FileLines:
    """The lines of a file of a format: a row for each that is one, the numbers of these lines, and the refused ones."""

    def __init__(self, path: Path, line_format: LineFormat, limits: FileLimits):
        self.path = path
        self.lines = 0
        self.keys: set[str] = set()
        self.refused: list[RefusedLine] = []
        self.numbers = array("q")
        self._format = line_format
        self._rows: list[_Row] = []
        self._batches: list[pa.Table] = []
        try:
            self._read(limits)
        except ValueError as error:
            raise IngestError(f"{path}: {error}") from error
        self._end_batch()
        self.rows = pa.concat_tables(self._batches)
        self._batches.clear()

    def _read(self, limits: FileLimits) -> None:
        """Take the rows. Those with a price that has two readings wait until the whole file shows which is right."""
        marks, waiting = PriceMarks(), []
        for line in given_lines(self.path, limits, self._format.header):
            self.lines += 1
            self.keys.update(line.values)
            try:
                if line.problem:
                    raise InvalidValue(line.problem)
                row = self._format.parse(line.values)
            except InvalidValue as error:
                self._refuse(line, error)
                continue
            prices = list(_price_texts(row))
            for price in prices:
                marks.add(line.number, price)
            if any(price.other is not None for price in prices):
                waiting.append((line, row))
            else:
                self._take(line, self._settled(row, marks) if prices else row)
        marks.check()
        for line, row in waiting:
            try:
                self._take(line, self._settled(row, marks))
            except InvalidValue as error:
                self._refuse(line, error)
        self.refused.sort(key=lambda refused: refused.line)

    def _settled(self, row: _Row, marks: PriceMarks) -> _Row:
        """Return a row whose prices are numbers. Raise InvalidValue if one has two readings."""
        return tuple(_settled(value, name, marks) for name, value in zip(self._format.columns, row, strict=True))

    def _take(self, line: GivenLine, row: _Row) -> None:
        self.numbers.append(line.number)
        self._rows.append(row)
        if len(self._rows) >= _MAX_BATCH_ROWS:
            self._end_batch()

    def _refuse(self, line: GivenLine, error: InvalidValue) -> None:
        self.refused.append(RefusedLine(str(self.path), line.number, str(error), line.text))
        if len(self.refused) > settings.MAX_REFUSED_LINES:
            more = f"and {settings.MAX_REFUSED_LINES:,} more lines: is it the right file?"
            raise IngestError(f"{self.refused[0]}, {more}")

    def _end_batch(self) -> None:
        self._batches.append(as_table(self._rows, self._format.schema))
        self._rows.clear()


def as_table(rows: list[_Row], schema: pa.Schema) -> pa.Table:
    """Return rows of Python objects as Arrow."""
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pa.table([pa.array(c, field.type) for c, field in zip(columns, schema, strict=True)], schema=schema)


def _price_texts(row: _Row) -> Iterator[PriceText]:
    for value in row:
        if isinstance(value, PriceText):
            yield value
        elif isinstance(value, list):
            yield from (member for offer in value for member in offer.values() if isinstance(member, PriceText))


def _settled(value: Any, name: str, marks: PriceMarks) -> Any:
    if isinstance(value, PriceText):
        return marks.value(value, name)
    if isinstance(value, list):
        return [
            {key: _settled(member, f"offer {place}: {key}", marks) for key, member in offer.items()}
            for place, offer in enumerate(value, 1)
        ]
    return value


def store_refused(path: Path, refused: Iterable[RefusedLine]) -> None:
    """Add refused lines to a file of JSON Lines, each only once. The file is replaced as a whole."""
    try:
        stored = path.read_text("utf-8").splitlines() if path.exists() else []
        lines = dict.fromkeys(stored + [json.dumps(line._asdict()) for line in refused])
        replace_file(path, [f"{line}\n".encode() for line in lines])
    except (OSError, ValueError) as error:
        raise IngestError(f"{path}: refused lines cannot be stored: {getattr(error, 'strerror', error)}") from error
