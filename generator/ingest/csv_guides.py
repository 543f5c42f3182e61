"""Reads a price guide as CSV, as the marketplace made them before 2024. Its day stands in its name."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from generator.errors import IngestError
from generator.ingest.bounded_file import FileLimits, open_bounded
from generator.ingest.csv_tables import TableKeys, csv_rows
from generator.ingest.prices import PriceMarks, PriceText, parse_price
from generator.ingest.values import InvalidValue, parse_id
from generator.lake.files import PRICE_FIGURES

_DAY_IN_NAME = re.compile(r"(?<![0-9])(20[0-9]{2})[-_]?([01][0-9])[-_]?([0-3][0-9])(?![0-9])")
# The columns of guides of before 2024, by our names.
_FIGURES = {"low": "Low Price", "avg": "Avg. Sell Price", "trend": "Trend Price"}
_FOIL = {"low": "Foil Low", "avg": "Foil Sell", "trend": "Foil Trend"}
_KEYS = {
    "idProduct": ("idProduct",),
    **{figure: (figure, *filter(None, [_FIGURES.get(figure)])) for figure in PRICE_FIGURES},
    **{
        f"{figure}-foil": (f"{figure}-foil", f"{figure}-holo", _FOIL.get(figure, f"Foil {figure.upper()}"))
        for figure in PRICE_FIGURES
    },
}
_TABLE = TableKeys(
    list(_KEYS.values()),
    [("idProduct",)],
    frozenset({"German Pro Low", "Suggested Price", "Low Price Ex+", "idCategory", "Name", "Expansion", "Rarity"}),
    frozenset({"idProduct"}),
)
_PRICE_NAMES = {name.casefold() for key, names in _KEYS.items() if key != "idProduct" for name in names}

_Row = dict[str, Any]


def is_csv_guide(text: str) -> bool:
    """Return whether a text begins as a guide of before 2024: with a product and at least one price."""
    header = next((line for line in text.splitlines() if line.strip(' \t\ufeff,;"') and "sep=" not in line.lower()), "")
    cells = {cell.strip(' \t\ufeff"').casefold() for cell in re.split("[,;\t|]", header)}
    return "idproduct" in cells and bool(cells & _PRICE_NAMES)


def read_csv_guide(path: Path, limits: FileLimits) -> tuple[datetime, list[_Row], tuple[str, ...]]:
    """Return the day of a guide, its rows under the keys of JSON, and the names of the columns that are not known.

    Raises:
        IngestError: The file cannot be read, is no such guide, or its name has no day.
    """
    found = _DAY_IN_NAME.search(path.name)
    try:
        day = datetime.strptime("".join(found.groups()), "%Y%m%d").replace(tzinfo=UTC) if found else None
    except ValueError:
        day = None
    if day is None:
        advice = "write the day into its name, as price_guide_1_2023-05-01.csv"
        raise IngestError(f"{path}: a price guide as CSV has no createdAt: {advice}")
    with open_bounded(path, limits) as file:
        try:
            rows, unknown = _csv_guide(file.lines())
        except ValueError as error:
            raise IngestError(f"{path}: {error}") from None
    return day, rows, unknown


def _csv_guide(lines: Iterable[str]) -> tuple[list[_Row], tuple[str, ...]]:
    """Return the rows of a guide under the keys of JSON, and the names of the columns that are not known.

    Raises:
        ValueError: It is no such guide. The message begins with the line.
    """
    keys = {name: key for key, names in _KEYS.items() for name in names}
    marks, given, unknown = PriceMarks(), list[tuple[int, _Row]](), set[str]()
    for line in csv_rows(lines, _TABLE):
        if line.problem:
            raise ValueError(f"line {line.line}: {line.problem}")
        unknown |= line.values.keys() - keys.keys() - _TABLE.remarks
        known = {name: value for name, value in line.values.items() if name in keys}
        try:
            row = {keys[name]: _csv_value(name, value) for name, value in known.items()}
            if row["idProduct"] is None:
                raise InvalidValue("it has no idProduct")
        except InvalidValue as error:
            raise ValueError(f"line {line.line}: {error}") from None
        for price in row.values():
            if isinstance(price, PriceText):
                marks.add(line.line, price)
        given.append((line.line, row))
    return [_settled(number, row, marks) for number, row in given], tuple(sorted(unknown))


def _csv_value(name: str, value: str | int) -> Any:
    return parse_id(value, name) if name == "idProduct" else parse_price(value, name)


def _settled(number: int, row: _Row, marks: PriceMarks) -> _Row:
    """Return a row whose prices are numbers."""
    try:
        return {key: marks.value(value, key) if isinstance(value, PriceText) else value for key, value in row.items()}
    except InvalidValue as error:
        raise ValueError(f"line {number}: {error}") from None
