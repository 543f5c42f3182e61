"""Reads files of ids of other catalogues: a card or line becomes rows, or is refused with its number and the reason."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from generator import settings
from generator.errors import IngestError
from generator.ingest.bounded_file import BoundedFile, FileLimits, open_bounded
from generator.ingest.csv_tables import TableKeys
from generator.ingest.identifier_formats import Card, CardFormat, Identified, identify_line
from generator.ingest.json_stream import JsonStream
from generator.ingest.lines import given_lines
from generator.ingest.values import InvalidValue, quoted_json

_COLUMNS = ("id_product", "scheme", "value")
_KEYS = TableKeys([(name,) for name in _COLUMNS], [(name,) for name in _COLUMNS], integers=frozenset({"id_product"}))
_MAX_BATCH_ROWS = 50_000  # rows held as Python objects before they become an Arrow batch
SCHEMA = pa.schema(
    {
        "file": pa.int32(),
        "number": pa.int64(),
        "id_product": pa.int64(),
        "scheme": pa.string(),
        "value": pa.string(),
    }
)


@dataclass
class Cases:
    """How many cards or lines are of a kind, and the first of them."""

    count: int = 0
    example: str = ""

    def add(self, example: str, count: int = 1) -> None:
        """Count some more."""
        self.example = self.example or example
        self.count += count


@dataclass
class IdentifierReader:
    """Collects the rows of files of one format.

    Args:
        format: None for lines.

    Attributes:
        read: How many cards or lines the files have.
        without: Cards without an id of the marketplace.
        refused: Cards or lines with a wrong value.
        paths: The files, in the order in which they were read.
        read_of, refused_of: The same for each file, by its place.
        codes: The codes that are printed on the cards of sets, by the catalogue's own. A set does not count as read.
    """

    format: CardFormat | None
    limits: FileLimits
    read: int = 0
    without: Cases = field(default_factory=Cases)
    refused: Cases = field(default_factory=Cases)
    paths: list[Path] = field(default_factory=list)
    read_of: Counter[int] = field(default_factory=Counter)
    refused_of: dict[int, Cases] = field(default_factory=dict)
    codes: dict[str, list[str]] = field(default_factory=dict)
    _batches: list[pa.RecordBatch] = field(default_factory=list)
    _rows: list[tuple[int, int, int, str, str]] = field(default_factory=list)

    @property
    def unit(self) -> str:
        """What the files consist of."""
        return "card" if self.format else "line"

    def add(self, path: Path) -> None:
        """Add the cards or lines of a file, plain or compressed. `-` is standard input.

        Raises:
            IngestError: The file cannot be read to its end, is too large, or is not of the format.
        """
        self.paths.append(path)
        with open_bounded(path, self.limits) as file:
            try:
                if self.format:
                    self._add_cards(file, self.format)
                else:
                    self._add_lines(file)
            except ValueError as error:
                what = f"file of {self.format.name}" if self.format else "table of identifiers"
                raise IngestError(f"{path}: no {what}: {error}") from error
        self._end_batch()

    def table(self) -> pa.Table:
        """Return all rows: the place of the file, the number of the card or line in it, and its columns."""
        return pa.Table.from_batches(self._batches, SCHEMA)

    def name(self, file: int, number: int) -> str:
        """Return how a message names a card or line."""
        return f"{self.paths[file]}: {self.unit} {number:,}"

    def _add_cards(self, file: BoundedFile, format_: CardFormat) -> None:
        """Raise ValueError if the file has no card of the format."""
        fine, problem = False, "it has no cards"
        stream = JsonStream(file.some, settings.MAX_CARD_CHARACTERS)
        for number, card in enumerate(format_.cards(stream), 1):
            try:
                if codes := format_.codes(_object(card)):
                    self.codes[codes.own] = codes.printed
                else:
                    self._add_one(number, format_.identify(card))
                fine = True
            except InvalidValue as error:
                problem = f"none of its cards is one, such as card {number:,}: {error}"
                self._refuse(number, error)
        if not fine:
            raise ValueError(problem)

    def _add_lines(self, file: BoundedFile) -> None:
        """Raise ValueError if the file lacks a column, or has a line that is no JSON: a file that was cut off."""
        complete = False
        for line in given_lines(file.lines(), _KEYS):
            if line.problem.startswith("not JSON"):
                raise ValueError(f"line {line.number:,} is no JSON, or cut off: {line.problem}: write it again")
            complete = complete or all(name in line.values for name in _COLUMNS)
            try:
                if line.problem:
                    raise InvalidValue(line.problem)
                self._add_one(line.number, identify_line(line.values))
            except InvalidValue as error:
                self._refuse(line.number, error)
        if not complete:
            raise ValueError(f"no line has the columns {', '.join(_COLUMNS)}")

    def _add_one(self, number: int, found: Identified) -> None:
        file = len(self.paths) - 1
        self._count(file)
        if not found.products:
            self.without.add(self.name(file, number))
        self._rows += [(file, number, product, *id_) for product in found.products for id_ in found.ids]
        if len(self._rows) >= _MAX_BATCH_ROWS:
            self._end_batch()

    def _refuse(self, number: int, error: InvalidValue) -> None:
        self._count(len(self.paths) - 1)
        self.refuse(len(self.paths) - 1, number, str(error))

    def refuse(self, file: int, number: int, problem: str) -> None:
        """Count a card or line that was read as one that is refused."""
        for cases in (self.refused, self.refused_of.setdefault(file, Cases())):
            cases.add(f"{self.name(file, number)}: {problem}")

    def check(self) -> None:
        """Raise IngestError if all cards or lines of a file are refused."""
        for file, cases in sorted(self.refused_of.items()):
            if cases.count == self.read_of[file]:
                all_of_them = f"all {cases.count:,} {self.unit}s were refused"
                raise IngestError(f"{cases.example}; {all_of_them}, and nothing was imported")

    def _count(self, file: int) -> None:
        self.read += 1
        self.read_of[file] += 1

    def _end_batch(self) -> None:
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(SCHEMA)
        arrays = [pa.array(column, type_) for column, type_ in zip(columns, SCHEMA.types, strict=True)]
        self._batches.append(pa.record_batch(arrays, SCHEMA))
        self._rows.clear()


def _object(value: Any) -> Card:
    if not isinstance(value, dict):
        raise InvalidValue(f"no JSON object, but {quoted_json(value)}")
    return value
