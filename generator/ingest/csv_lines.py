"""Reads CSV with a header as JSON objects, so that a table may be either CSV or JSON Lines."""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

_INTEGER = re.compile("-?[0-9]{1,19}")
_DELIMITERS = ",;\t"


class CsvRow(NamedTuple):
    """A row of a CSV file: the number of its last line, from 1, the row as text, and its object."""

    line: int
    text: str
    values: dict[str, Any]


def is_csv(first: bytes) -> bool:
    """Return whether a file whose first line is this one is CSV rather than JSON Lines."""
    return not first.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))


def csv_rows(lines: Iterable[bytes]) -> Iterator[CsvRow]:
    """Yield the rows below the header. Columns are separated by comma, semicolon or tab; empty values are null.

    Raises:
        ValueError: The bytes are no UTF-8, or no CSV.
    """
    texts = (line.decode("utf-8-sig" if number == 0 else "utf-8") for number, line in enumerate(lines))
    delimiter, names = _header(next(texts, ""))
    reader = csv.reader(texts, delimiter=delimiter, strict=True)
    try:
        for values in reader:
            if values:
                yield CsvRow(reader.line_num + 1, delimiter.join(values), _object(names, values))
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num + 1}: no CSV: {error}") from error


def csv_header(first: bytes) -> list[str]:
    """Return the names of the columns, from the first line of a CSV file.

    Raises:
        ValueError: The bytes are no UTF-8.
    """
    return [name.strip() for name in _header(first.decode("utf-8-sig"))[1]]


def _header(line: str) -> tuple[str, list[str]]:
    """Return the delimiter of a header, and the names of its columns."""
    delimiter = max(_DELIMITERS, key=line.count)
    return delimiter, next(csv.reader([line], delimiter=delimiter), [])


def _object(names: list[str], values: list[str]) -> dict[str, Any]:
    pairs = zip(map(str.strip, names), map(str.strip, values), strict=False)
    return {name: _value(name, text) for name, text in pairs if text}


def _value(name: str, text: str) -> str | int:
    """Return the text, or the integer in a column of ids. Numbers of cards stay as written: 004."""
    return int(text) if name.lower().startswith("id") and _INTEGER.fullmatch(text) else text
