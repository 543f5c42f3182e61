"""Parses values as scrapers read them from the marketplace's pages, and as people write them into tables.

Each function takes a JSON value and its name. A missing value (null, empty text, or a text that means nothing, such as
`N/A`) gives None. A value that cannot be parsed raises InvalidValue, whose message has the name.

A price as text uses one mark between euros and cents, and perhaps another between thousands. `0,02 €` shows that the
comma is the decimal mark, `1.234.567` that the point stands between thousands, `0.700` that the point is the decimal
mark, and that three digits may follow it. `1.234` alone allows two readings. So a file is read to its end first: each
mark has one meaning in it, and what the file itself does not settle is refused.
"""

import json
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from generator.lake.tables import CONDITIONS, MAX_PRICE

_MAX_QUOTED_CHARACTERS = 60
_CODES = {
    spelling.replace(" ", "").casefold(): code
    for code, name in CONDITIONS.items()
    for spelling in (code, name, f"{code} {name}", f"{name} {code}")
}
_BETWEEN_WORDS = re.compile(r"[\s_.\-–/:]+")
_AROUND = re.compile(r"""^[\s"'(\[]+|[\s"'.)\]]+$""")  # but not the minus of NM-
_INTEGERS = range(-(2**63), 2**63)
_IDS = range(-(10**18) + 1, 10**18)  # what the API can address
_COUNT = re.compile(r"[0-9]+|[1-9][0-9]{0,2}(?:([.,'’])[0-9]{3})(?:\1[0-9]{3})*", re.ASCII)
# What programs and people write where there is no value: one rule for all columns.
_NOTHING = frozenset({
    "", "-", "--", "–", "—", "null", "(null)", "<null>", "\\n", "nil", "none", "undefined", "nan", "-nan", "na", "n/a",
    "<na>", "#n/a", "#na", "#ref!", "#value!", "#name?", "#null!", "#num!", "#div/0!", "nat", "[null]",
    "n.a.",
})  # fmt: skip
# What spreadsheets and data frames make of a collector number: 12.0 of 12, 1E+05 of 1E5, and dates: 12-Mar of 12/3.
_MONTH = "(?:Jan|Feb|Mar|Mrz|M\u00e4r|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])"
_COMPUTED = re.compile(
    r"[0-9]+\.0|[0-9](?:[.,][0-9]+)?[eE]\+[0-9]+"
    rf"|[0-3]?[0-9](?:[-/ ]|\. ?){_MONTH}[a-z]*\.?(?:[-/ ][0-9]{{2,4}})?|{_MONTH}[-/ ][0-9]{{2}}(?:[0-9]{{2}})?"
    r"|[0-3]?[0-9]([-./])[0-3]?[0-9]\1(?:[0-9]{2}){1,2}|[12][0-9]{3}([-./])[01]?[0-9]\2[0-3]?[0-9](?:[ T][0-9:.]+)?"
)
_LONGEST_NOTHING = max(map(len, _NOTHING))
# Characters of category Cf (zero width, direction) and variation selectors.
_ALSO_UNSEEN = frozenset("\u034f\u180b\u180c\u180d" + "".join(map(chr, range(0xFE00, 0xFE10))))


# Signs that are not seen and mean nothing in a name: soft hyphen, zero width, marks of direction. Joiners (U+200C,
# U+200D) stay, since scripts and emoji need them.
UNSEEN = "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
_UNSEEN = re.compile(UNSEEN)


_MARKS = {".": "point", ",": "comma", "'": "apostrophe"}
_CURRENCY = re.compile(r"^(?:€|EUR)?\s*(.*?)\s*(?:€|EUR)?$", re.DOTALL)
_SPACED = re.compile(r"[1-9][0-9]{0,2}(?:\s[0-9]{3})+(?:([.,])([0-9]+))?")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:([.,'])[0-9]{3})(?:\1[0-9]{3})*(?:(?!\1)([.,])([0-9]+))?")
_DECIMAL = re.compile(r"([0-9]+)([.,])([0-9]+)")


class InvalidValue(ValueError):
    """A value that cannot be parsed. The message is the reason why the line is refused."""


def refuse_constant(name: str) -> None:
    """Raise ValueError for NaN and the infinite numbers, which Python's decoder takes."""
    raise ValueError(f"{name} is no JSON number")


def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these keys and values. Raise InvalidValue if a key stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise InvalidValue(f"{quoted_json(key)} stands twice in an object")
    return found


def visible(text: str) -> str:
    """Return a text without the characters that are not seen."""
    if text.isascii():
        return text
    return "".join(char for char in text if unicodedata.category(char) != "Cf" and char not in _ALSO_UNSEEN)


def is_nothing(text: str) -> bool:
    """Return whether a text means that there is no value."""
    if len(text) > _LONGEST_NOTHING and not text.isspace() and len(text.strip()) > _LONGEST_NOTHING:
        return False
    return visible(text).strip().casefold() in _NOTHING


def is_missing(value: Any) -> bool:
    """Return whether a value is null, or a text that means nothing."""
    return value is None or (type(value) is str and is_nothing(value))


def parse_text(value: Any, name: str) -> str | None:
    """Parse text, without white space around it, and without signs that are not seen."""
    if value is None:
        return None
    if type(value) is not str:
        raise InvalidValue(f"{name} must be text, not {quoted_json(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidValue(f"{name} holds half of a surrogate pair: {quoted_json(value)}") from None
        value = _UNSEEN.sub("", value)
    return None if is_nothing(value) else value.strip()


def parse_number(value: Any, name: str) -> str | None:
    """Parse a collector number, which is text: 004, 63/100, TG12."""
    number = parse_text(value, name)
    if number is not None and _COMPUTED.fullmatch(number):
        raise InvalidValue(f"{name} {quoted_json(number)} is what a program made of a number: write it as on the card")
    return number


def parse_count(value: Any, name: str) -> int | None:
    """Parse a count: an integer, or text such as `1` or `1.044`."""
    if type(value) is str:
        digits = "".join(visible(value).split())
        if not is_nothing(digits) and not _COUNT.fullmatch(digits):
            raise InvalidValue(f"{name} must be a count, not {quoted_json(value)}")
        value = None if is_nothing(digits) else int(re.sub("[^0-9]", "", digits)[:30])
    if value is None:
        return None
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or value < 0 or value not in _INTEGERS:
        raise InvalidValue(f"{name} must be a count, not {quoted_json(value)}")
    return value


def parse_id(value: Any, name: str) -> int | None:
    if is_missing(value):
        return None
    if type(value) is not int:
        raise InvalidValue(f"{name} must be an integer, not {quoted_json(value)}")
    if value not in _IDS:
        raise InvalidValue(f"{name} must be an integer of at most 18 digits, not {quoted_json(value)}")
    return value


def parse_time(value: Any, name: str) -> datetime | None:
    """Parse an ISO 8601 time into UTC without a zone. A time without a zone is UTC."""
    if is_missing(value):
        return None
    try:
        if len(value) <= len("2026-07-26"):
            raise ValueError("a day is no time")
        time = datetime.fromisoformat(value.strip())
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise InvalidValue(f"{name} must be a time such as 2026-07-26T02:44:32Z, not {quoted_json(value)}") from None


def parse_condition(value: Any, name: str) -> str | None:
    """Parse a condition in any spelling, such as `Near-Mint (NM)`, into its code. Another text stays unchanged."""
    condition = parse_text(value, name)
    return None if condition is None else _condition_code(condition)


def parse_seller(value: Any, name: str) -> str | None:
    """Parse a seller: a name, or an object with a `username` (the marketplace's own API) or a `name`."""
    if type(value) is dict:
        value = value.get("username") or value.get("name")
    return parse_text(value, name)


def parse_text_or_integer(value: Any, name: str) -> str | None:
    """Parse text, which may be given as an integer."""
    return parse_text(str(value) if type(value) is int else value, name)


def parse_objects(value: Any, name: str) -> list[dict[str, Any]] | None:
    if value is None:
        return None
    if type(value) is not list or not all(type(member) is dict for member in value):
        raise InvalidValue(f"{name} must be a list of objects, not {quoted_json(value)}")
    return value


def parse_url(value: Any, name: str) -> str | None:
    """Parse the URL of a page, without query and fragment."""
    url = parse_text(value, name)
    if url is None:
        return None
    if not url.startswith(("https://", "http://")):
        raise InvalidValue(f"{name} must begin with https:// or http://, not be {quoted_json(value)}")
    return re.split("[?#]", url, maxsplit=1)[0]


def quoted_json(value: Any) -> str:
    """Return a value as JSON for a message. A long one is cut."""
    quoted = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    return quoted if len(quoted) <= _MAX_QUOTED_CHARACTERS else f"{quoted[:_MAX_QUOTED_CHARACTERS]}…"


@lru_cache(maxsize=10_000)
def _condition_code(condition: str) -> str:
    words = _BETWEEN_WORDS.split(_AROUND.sub("", visible(condition)).replace("(", " "))
    return _CODES.get("".join(words).casefold(), condition) if all(words) else condition


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
    if not 0 <= value <= MAX_PRICE:
        raise InvalidValue(f"{name} is no price: {quoted_json(value)}")
    return float(value + 0.0)  # turns negative zero into zero


@dataclass
class PriceMarks:
    """What the prices of one file show about its marks: for each, the first line and text that show it."""

    decimal: dict[str, str] = field(default_factory=dict)
    thousands: dict[str, str] = field(default_factory=dict)
    long: set[str] = field(default_factory=set)

    def add(self, line: int, price: PriceText) -> None:
        """Take what a price shows. Raise ValueError if two prices of the file use a mark in two ways."""
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

    def value(self, price: PriceText, name: str) -> float:
        """Return the value of a price. Raise InvalidValue if the file does not show which of two readings is right.

        Raise ValueError if its mark stands before three digits, as between thousands, and is that of cents elsewhere.
        """
        if price.other is None:
            return price.value
        mark, other = price.mark, "," if price.mark == "." else "."
        if mark in self.decimal and mark not in self.long and not {other} & {*self.decimal, *self.thousands}:
            raise ValueError(
                f"{quoted_json(price.text)}: the {_MARKS[mark]} stands before three digits, as between "
                f"thousands, and is the decimal mark in {self.decimal[mark]}: write all prices alike"
            )
        is_decimal = mark in self.decimal or (other in self.thousands and other not in self.decimal)
        is_thousands = mark in self.thousands or other in self.decimal
        if is_decimal == is_thousands:
            readings = f"{price.value:g} or {price.other:.0f}"
            raise InvalidValue(
                f"{name} {quoted_json(price.text)} may be {readings}, and the file does not show which: "
                "write it with two decimals"
            )
        return price.value if is_decimal else price.other
