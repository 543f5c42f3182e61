"""Parses values as scrapers read them from the marketplace's pages, and as people write them into tables.

Each function takes a JSON value and its name. A missing value (null, empty text, or a text that means nothing, such as
`N/A`) gives None. A value that cannot be parsed raises InvalidValue, whose message has the name.
"""

import json
import re
import unicodedata
from collections import Counter
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from generator.lake.tables import CONDITIONS

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
    """Parse an id of the marketplace."""
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
    """Parse a list of objects, as it is."""
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
