"""Prices as text: which mark a file uses between euros and cents, and which between thousands.

`0,02 €` shows that the comma is the decimal mark, `1.234.567` that the point stands between thousands, `0.700` that the
point is the decimal mark, and that three digits may follow it. `1.234` alone allows two readings. So a file is read to
its end first: each mark has one meaning in it, and what the file itself does not settle is refused.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from generator.ingest.values import InvalidValue, is_nothing, quoted_json, visible
from generator.lake.tables import MAX_PRICE

_MARKS = {".": "point", ",": "comma", "'": "apostrophe"}
_CURRENCY = re.compile(r"^(?:€|EUR)?\s*(.*?)\s*(?:€|EUR)?$", re.DOTALL)
_SPACED = re.compile(r"[1-9][0-9]{0,2}(?:\s[0-9]{3})+(?:([.,])([0-9]+))?")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:([.,'])[0-9]{3})(?:\1[0-9]{3})*(?:(?!\1)([.,])([0-9]+))?")
_DECIMAL = re.compile(r"([0-9]+)([.,])([0-9]+)")


class PriceText(NamedTuple):
    """A price that is written as text."""

    text: str
    value: float  # in euros; with two readings, that with the mark as decimal mark
    decimal: str = ""  # the mark that the text shows to be it, '' for none
    thousands: str = ""
    other: float | None = None  # the other reading, if there are two
    mark: str = ""  # of two readings


@lru_cache(maxsize=10_000)
def read_price(text: str) -> PriceText | None:
    """Read a price; None for none. Marks that are not seen do not count. Raise ValueError for what is no price."""
    if is_nothing(text):
        return None
    found = _CURRENCY.fullmatch(visible(text).strip())
    digits = found[1].replace("’", "'") if found else ""
    if not digits or is_nothing(digits):
        return None
    if re.fullmatch("[0-9]+", digits):
        return PriceText(text, float(digits))
    if spaced := _SPACED.fullmatch(digits):
        whole = "".join(re.split("[.,]", digits)[0].split())
        return PriceText(text, float(f"{whole}.{spaced[2] or 0}"), decimal=spaced[1] or "")
    return _marked(text, digits)


def _marked(text: str, digits: str) -> PriceText:
    grouped, decimal = _GROUPED.fullmatch(digits), _DECIMAL.fullmatch(digits)
    if grouped:
        whole = digits.partition(grouped[2])[0] if grouped[2] else digits
        as_grouped = float(f"{whole.replace(grouped[1], '')}.{grouped[3] or 0}")
        if not decimal:
            return PriceText(text, as_grouped, decimal=grouped[2] or "", thousands=grouped[1])
    if not decimal:
        raise ValueError(f"is no price: {quoted_json(text)}: write euros as 1234.50 or 1.234,50 €")
    as_decimal = float(f"{decimal[1]}.{decimal[3]}")
    if grouped:
        return PriceText(text, as_decimal, other=as_grouped, mark=decimal[2])
    return PriceText(text, as_decimal, decimal=decimal[2])


def parse_price(value: Any, name: str) -> float | PriceText | None:
    """Parse a price in euros: a number, or text as on the site (`0,02 €`, `1.234,56 €`, `N/A`) or like `9.80`."""
    if value is None:
        return None
    if type(value) is str:
        try:
            read = read_price(value)
        except ValueError as error:
            raise InvalidValue(f"{name} {error}") from None
        if read is not None:
            check_price(read.value if read.other is None else read.other, name)
        return read
    if type(value) is not float and type(value) is not int:
        raise InvalidValue(f"{name} must be a price, not {quoted_json(value)}")
    return check_price(value, name)


def check_price(value: float, name: str) -> float:
    """Return a price that builds take."""
    if not 0 <= value <= MAX_PRICE:
        raise InvalidValue(f"{name} is no price: {quoted_json(value)}")
    return float(value + 0.0)  # turns negative zero into zero


@dataclass
class PriceMarks:
    """What the prices of one file show about its marks: for each, the first line and text that show it."""

    decimal: dict[str, str] = field(default_factory=dict)
    thousands: dict[str, str] = field(default_factory=dict)
    unsettled: dict[str, tuple[int, str]] = field(default_factory=dict)
    long: set[str] = field(default_factory=set)

    def add(self, line: int, price: PriceText) -> None:
        """Take what a price shows. Raise ValueError if two prices of the file use a mark in two ways."""
        if price.mark:
            self.unsettled.setdefault(price.mark, (line, price.text))
        if price.decimal and re.search(rf"{re.escape(price.decimal)}[0-9]{{3}}", price.text):
            self.long.add(price.decimal)
        for marks, mark in ((self.decimal, price.decimal), (self.thousands, price.thousands)):
            if mark and mark not in marks:
                marks[mark] = f"{quoted_json(price.text)} of line {line}"
        for mark in filter(None, (price.decimal, price.thousands)):
            if mark in self.decimal and mark in self.thousands:
                raise ValueError(
                    f"line {line}: {quoted_json(price.text)}: the {_MARKS[mark]} is the decimal mark in "
                    f"{self.decimal[mark]}, and stands between thousands in {self.thousands[mark]}: "
                    "write all prices alike"
                )

    def check(self) -> None:
        """Raise ValueError if a mark stands before three digits, as between thousands, and is that of cents."""
        for mark, (line, text) in self.unsettled.items():
            other = "," if mark == "." else "."
            if mark in self.decimal and not {mark} & self.long and not {other} & {*self.decimal, *self.thousands}:
                raise ValueError(
                    f"line {line}: {quoted_json(text)}: the {_MARKS[mark]} stands before three digits, as between "
                    f"thousands, and is the decimal mark in {self.decimal[mark]}: write all prices alike"
                )

    def value(self, price: PriceText, name: str) -> float:
        """Return the value of a price. Raise InvalidValue if the file does not show which of two readings is right."""
        if price.other is None:
            return price.value
        other = "," if price.mark == "." else "."
        is_decimal = price.mark in self.decimal or (other in self.thousands and other not in self.decimal)
        is_thousands = price.mark in self.thousands or other in self.decimal
        if is_decimal == is_thousands:
            readings = f"{price.value:g} or {price.other:.0f}"
            raise InvalidValue(
                f"{name} {quoted_json(price.text)} may be {readings}, and the file does not show which: "
                "write it with two decimals"
            )
        return price.value if is_decimal else price.other
