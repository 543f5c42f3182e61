"""Reads tables that people keep as CSV: strictly, so that no value moves to another column in silence.

A row has as many values as the header has columns, a column stands once, a quote is closed in its row. What a
spreadsheet adds is read where it is certain: a `sep=` line, blank lines before the header, any line end, a delimiter
that the header shows, `="004"` for 004. Text that lost its letters on the way is refused.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any, NamedTuple

from generator.ingest.values import quoted_json, visible

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


class TableKeys(NamedTuple):
    """What a table may have."""

    columns: Sequence[tuple[str, ...]]  # the keys of each column, the usual one first
    required: Sequence[tuple[str, ...]]  # the keys of columns that it must have
    remarks: frozenset[str] = frozenset()  # keys that only people read
    integers: frozenset[str] = frozenset()  # numbers of cards stay as written: 004


def csv_rows(lines: Iterable[str], keys: TableKeys) -> Iterator[GivenLine]:
    """Yield the rows below the header. Raise ValueError, with the line first, if the text is no CSV of this table."""
    checked = _checked(lines)
    number, delimiter, header = _header(checked, keys)
    names = _names(number, header, keys)
    reader, last, start = csv.reader(checked, delimiter=delimiter, strict=True), number, number + 1
    try:
        for values in reader:
            start, last = last + 1, number + reader.line_num
            if any(map(str.strip, values)):
                cells = {
                    name: _value(text, name in keys.integers) for name, text in zip(names, values, strict=False) if name
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


def _header(lines: Iterator[str], keys: TableKeys) -> tuple[int, str, list[str]]:
    """Read up to the header. Return the number of its line, the delimiter, and the names of the columns."""
    told = None
    for number, line in enumerate(lines, 1):
        if found := _SEP.fullmatch(line.strip(" \r\n")):
            told = found[1]
        elif line.strip().strip(_DELIMITERS + '"'):
            known = {key.casefold() for column in keys.columns for key in column}
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


def _names(number: int, header: list[str], keys: TableKeys) -> list[str]:
    """Return the key of each column, its own name for one that is not known."""
    known = {key.casefold(): key for column in keys.columns for key in column} | {
        key.casefold(): key for key in keys.remarks
    }
    names = [known.get(name.casefold(), name) for name in header]
    _refuse_repeated(number, names, keys)
    absent = [column for column in keys.columns if not set(column) & set(names)]
    for name in names:
        likely = [column[0] for column in absent if _is_like(name, column)] if name not in known.values() else []
        if likely:
            new = " or ".join(likely)
            raise ValueError(
                f"line {number}: column {quoted_json(name)} is not known: rename it to {new}, or remove it"
            )
    for column in keys.required:
        if not set(column) & set(names):
            other = f" (or {', '.join(column[1:])})" if column[1:] else ""
            found = ", ".join(map(quoted_json, names))
            raise ValueError(f"line {number}: its header lacks {column[0]}{other}; it has {found}")
    return names


def _refuse_repeated(number: int, names: list[str], keys: TableKeys) -> None:
    means = {key: column[0] for column in keys.columns for key in column}
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
