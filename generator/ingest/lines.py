"""Reads the lines of tables and scrapers: each becomes a row, or is refused with its number and the reason.

CSV that people keep is read strictly, so that no value moves to another column in silence. A row has as many values as
the header has columns, a column stands once, a quote is closed in its row. What a spreadsheet adds is read where it is
certain: a `sep=` line, blank lines before the header, any line end, a delimiter that the header shows, `="004"` for
004. Text that lost its letters on the way is refused.
"""

import csv
import json
import re
from array import array
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from generator import settings
from generator.errors import IngestError
from generator.ingest.formats import LineFormat
from generator.ingest.streams import FileLimits, lines_of
from generator.ingest.values import (
    InvalidValue,
    PriceMarks,
    PriceText,
    quoted_json,
    refuse_constant,
    unrepeated,
    visible,
)
from generator.storage.stores.disk import replace_file

_MAX_BATCH_ROWS = 20_000  # rows held as Python objects before they become an Arrow batch
_ARRAY = "it is one JSON array: write each object on a line of its own, as `jq -c '.[]'` does"

_Row = tuple[Any, ...]

_DELIMITERS = ",;\t|"
_SEP = re.compile(r'"?sep=(.)\1*[",;\t|\s]*', re.IGNORECASE)
_BYTE = re.compile("[\udc80-\udcff]")  # a byte that is no UTF-8
# UTF-8 that was read as Latin-1 or Windows-1252 (`Ã©` for é, `â€™` for ’), and what stands for a lost letter.
_GARBLED = re.compile("[\u00c2\u00c3][\u0080-\u00bf]|\u00e2\u20ac|\ufffd|\0")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_]+")
_LIKENESS = 0.8
_TOO_NARROW = re.compile("#{2,}")  # a cell of a spreadsheet that hides its value
_INTEGER = re.compile("-?[0-9]{1,19}")
_FORMULA = re.compile(r'="([^"]*)"')  # keeps leading zeros in a spreadsheet


class GivenLine(NamedTuple):
    """A line of a file, or a row of several: its number from 1, its text, its values, what is wrong with it, or ''."""

    number: int
    text: str
    values: dict[str, Any]
    problem: str


def given_lines(path: Path, limits: FileLimits, line_format: LineFormat) -> Iterator[GivenLine]:
    """Yield the lines of JSON Lines, or of CSV if it may be, without blank ones. Raise ValueError for another file."""
    source = lines_of(path, limits)
    blank = []
    first = next(source, "")
    while first and not first.strip("\ufeff \t\r\n"):
        blank.append(first)
        first = next(source, "")
    again = chain(blank, [first], source)
    if line_format.may_be_csv and first and not first.lstrip().startswith(("{", "[")):
        yield from csv_rows(again, line_format)
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
        try:
            self.rows = as_table(self._read(limits), line_format.schema)
        except ValueError as error:
            raise IngestError(f"{path}: {error}") from error

    def _read(self, limits: FileLimits) -> Iterator[_Row]:
        """Yield the rows. Those with a price that has two readings wait until the whole file shows which is right."""
        marks, waiting = PriceMarks(), []
        for line in given_lines(self.path, limits, self._format):
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
                self.numbers.append(line.number)
                yield self._settled(row, marks) if prices else row
        for line, row in waiting:
            try:
                settled = self._settled(row, marks)
            except InvalidValue as error:
                self._refuse(line, error)
            except ValueError as error:
                raise ValueError(f"line {line.number}: {error}") from None
            else:
                self.numbers.append(line.number)
                yield settled
        self.refused.sort(key=lambda refused: refused.line)

    def _settled(self, row: _Row, marks: PriceMarks) -> _Row:
        """Return a row whose prices are numbers. Raise InvalidValue if one has two readings."""
        return tuple(_settled(value, name, marks) for name, value in zip(self._format.columns, row, strict=True))

    def _refuse(self, line: GivenLine, error: InvalidValue) -> None:
        self.refused.append(RefusedLine(str(self.path), line.number, str(error), line.text))
        if len(self.refused) > settings.MAX_REFUSED_LINES:
            more = f"and {settings.MAX_REFUSED_LINES:,} more lines: is it the right file?"
            raise IngestError(f"{self.refused[0]}, {more}")


def as_table(rows: Iterable[_Row], schema: pa.Schema) -> pa.Table:
    """Return rows of Python objects as Arrow. Few of them are held at once."""
    tables, left = [schema.empty_table()], iter(rows)
    while some := list(islice(left, _MAX_BATCH_ROWS)):
        columns = zip(zip(*some, strict=True), schema, strict=True)
        tables.append(pa.table([pa.array(column, field.type) for column, field in columns], schema=schema))
    return pa.concat_tables(tables)


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


def csv_rows(lines: Iterable[str], line_format: LineFormat) -> Iterator[GivenLine]:
    """Yield the rows below the header. Raise ValueError, with the line first, if the text is no CSV of this table."""
    checked = _checked(lines)
    number, delimiter, header = _header(checked, line_format.keys)
    names = _names(number, header, line_format)
    integers = line_format.integer_keys
    reader, last, start = csv.reader(checked, delimiter=delimiter, strict=True), number, number + 1
    try:
        for values in reader:
            start, last = last + 1, number + reader.line_num
            if any(map(str.strip, values)):
                cells = {
                    name: _value(text, name in integers) for name, text in zip(names, values, strict=False) if name
                }
                yield GivenLine(start, delimiter.join(values), cells, _problem(names, values))
    except csv.Error as error:
        raise ValueError(f"line {last + 1}: no CSV: {error}: is a quote missing, or one too many?") from None


def undecoded(line: str) -> str:
    """Return which byte of a line is no UTF-8, '' if it is text."""
    if line.isascii() or not (byte := _BYTE.search(line)):
        return ""
    return f"character {byte.start() + 1} is the byte 0x{ord(byte[0]) - 0xDC00:02x}, no UTF-8: save the file as UTF-8"


def _checked(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if problem := undecoded(line):
            raise ValueError(f"line {number}: {problem}")
        if found := _GARBLED.search(line):
            place = f"line {number}: character {found.start() + 1}: {quoted_json(found[0])}"
            wrong = "was another letter before a program read it in a wrong encoding: write the file again as UTF-8"
            raise ValueError(f"{place} {wrong}")
        yield line


def _header(lines: Iterator[str], keys: Iterable[str]) -> tuple[int, str, list[str]]:
    """Read up to the header. Return the number of its line, the delimiter, and the names of the columns."""
    told = None
    for number, line in enumerate(lines, 1):
        if found := _SEP.fullmatch(line.strip(" \r\n")):
            told = found[1]
        elif line.strip().strip(_DELIMITERS + '"'):
            known = set(map(str.casefold, keys))
            delimiter = told or max(_DELIMITERS, key=partial(_fit, line, known))
            try:
                cells = next(csv.reader([line], delimiter=delimiter, strict=True))
            except csv.Error as error:
                raise ValueError(f"line {number}: no CSV: {error}: is a quote missing in the header?") from None
            return number, delimiter, [visible(cell).strip() for cell in cells]
    raise ValueError("it has no header: its first line names the columns")


def _fit(line: str, known: set[str], delimiter: str) -> tuple[int, int]:
    """Count known columns, then all columns."""
    cells = [cell.strip(' \r\n"').casefold() for cell in line.split(delimiter)]
    return len(known & set(cells)), len(cells)


def _names(number: int, header: list[str], line_format: LineFormat) -> list[str]:
    """Return the key of each column, its own name for one that is not known."""
    known = {key.casefold(): key for key in line_format.keys | line_format.remarks}
    names = [known.get(name.casefold(), name) for name in header]
    columns = [column.keys for column in line_format.columns.values()]
    _refuse_repeated(number, names, columns)
    absent = [column for column in columns if not set(column) & set(names)]
    for name in names:
        likely = [column[0] for column in absent if _is_like(name, column)] if name not in known.values() else []
        if likely:
            new = " or ".join(likely)
            raise ValueError(
                f"line {number}: column {quoted_json(name)} is not known: rename it to {new}, or remove it"
            )
    for column in line_format.required_keys:
        if not set(column) & set(names):
            other = f" (or {', '.join(column[1:])})" if column[1:] else ""
            found = ", ".join(map(quoted_json, names))
            raise ValueError(f"line {number}: its header lacks {column[0]}{other}; it has {found}")
    return names


def _refuse_repeated(number: int, names: list[str], columns: list[tuple[str, ...]]) -> None:
    means = {key: column[0] for column in columns for key in column}
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        column = means.get(name, name.casefold())
        if name and column in places:
            first = names[places[column]]
            twice = f"column {name} stands twice" if name == first else f"columns {first} and {name} are the same"
            raise ValueError(f"line {number}: {twice}, at {places[column] + 1} and {place + 1}: remove one")
        places[column] = place


def _is_like(name: str, column: tuple[str, ...]) -> bool:
    """Return whether a person may mean a column by a name: `name_en` is like `name`, `Card Number` like `number`."""
    words = _words(name)
    close = get_close_matches("".join(words), ["".join(_words(key)) for key in column], cutoff=_LIKENESS)
    return bool(close) or any(set(_words(key)) <= set(words) for key in column)


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)]


def _value(text: str, is_integer: bool) -> str | int:
    text = text.strip()
    formula = _FORMULA.fullmatch(text)
    text = formula[1] if formula else text
    return int(text) if is_integer and _INTEGER.fullmatch(text) else text


def _problem(names: list[str], values: list[str]) -> str:
    """Return why a row cannot be trusted, '' if it can."""
    if len(values) > len(names):
        counts = f"{len(values)} values, more than the {len(names)} columns of the header"
        return f"{counts}: quote a value that has the delimiter in it: {quoted_json(values)}"
    if len(values) < len(names):
        counts = f"{len(values)} value{'s' * (len(values) != 1)}, fewer than the {len(names)} columns of the header"
        return f"{counts}: write a delimiter for each empty one: {quoted_json(values)}"
    for name, value in zip(names, values, strict=True):
        if not name and value.strip():
            return f"{quoted_json(value)} stands in a column without a name"
        if "\n" in value or "\r" in value:
            return f"{name} has a line break in it: is a quote missing? {quoted_json(value)}"
        if value.lstrip().startswith("=") and not _FORMULA.fullmatch(value.strip()):
            return f"{name} is a formula: save the table with its values: {quoted_json(value)}"
        if _TOO_NARROW.fullmatch(value.strip()):
            return f"{name} is {quoted_json(value)}: widen the column of the spreadsheet, and save it again"
        if value.lstrip().startswith('"') and not value.startswith('"'):
            return f"{name} has a blank before its quote: remove the blank: {quoted_json(value)}"
    return ""
