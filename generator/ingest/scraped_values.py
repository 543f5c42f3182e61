"""Parses values as scrapers read them from the marketplace's pages.

Each function takes a JSON value and its name. A missing value (null or empty text) gives None. A value that cannot be
parsed raises InvalidValue, whose message has the name.
"""

import json
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from generator.lake.prices_and_conditions import CONDITIONS, MAX_PRICE

_MAX_QUOTED_CHARACTERS = 60
_CODES = {text.casefold(): code for code, name in CONDITIONS.items() for text in (code, name)}
_INTEGERS = range(-(2**63), 2**63)
# As on the site: a decimal comma, points between thousands. Otherwise a point is a decimal point.
_SITE_PRICE = re.compile(r"([0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)(?:,([0-9]+))?", re.ASCII)
_PLAIN_PRICE = re.compile(r"[0-9]+\.[0-9]+", re.ASCII)
_COUNT = re.compile(r"[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+", re.ASCII)
_NO_PRICE = {"", "-", "–", "—", "N/A"}


class InvalidValue(ValueError):
    """A value that cannot be parsed. The message is the reason why the line is refused."""


def parse_text(value: Any, name: str) -> str | None:
    """Parse text, without white space around it."""
    if value is None:
        return None
    if type(value) is not str:
        raise InvalidValue(f"{name} must be text, not {quoted_json(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidValue(f"{name} holds half of a surrogate pair: {quoted_json(value)}") from None
    return value.strip() or None


def parse_price(value: Any, name: str) -> float | None:
    """Parse a price in euros: a number, or text as on the site (`0,02 €`, `1.234,56 €`, `N/A`) or like `9.80`."""
    if type(value) is str:
        value = _parse_price_text(value, name)
    if value is None:
        return None
    if type(value) is not float and type(value) is not int:
        raise InvalidValue(f"{name} must be a price, not {quoted_json(value)}")
    if not 0 <= value <= MAX_PRICE:
        raise InvalidValue(f"{name} is no price: {quoted_json(value)}")
    return float(value + 0.0)  # turns negative zero into zero


def parse_count(value: Any, name: str) -> int | None:
    """Parse a count: an integer, or text such as `1` or `1.044`."""
    if type(value) is str:
        digits = "".join(value.split())
        if digits and not _COUNT.fullmatch(digits):
            raise InvalidValue(f"{name} must be a count, not {quoted_json(value)}")
        value = int(digits.replace(".", "")[:30]) if digits else None
    if value is None:
        return None
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or value < 0 or value not in _INTEGERS:
        raise InvalidValue(f"{name} must be a count, not {quoted_json(value)}")
    return value


def parse_id(value: Any, name: str) -> int | None:
    """Parse an id of the marketplace."""
    if value is None:
        return None
    if type(value) is not int or value not in _INTEGERS:
        raise InvalidValue(f"{name} must be an integer, not {quoted_json(value)}")
    return value


def parse_time(value: Any, name: str) -> datetime | None:
    """Parse an ISO 8601 time into UTC without a zone. A time without a zone is UTC."""
    if value is None or value == "":
        return None
    try:
        if len(value) <= len("2026-07-26"):
            raise ValueError("a day is no time")
        time = datetime.fromisoformat(value.strip())
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise InvalidValue(f"{name} must be a time such as 2026-07-26T02:44:32Z, not {quoted_json(value)}") from None


def parse_condition(value: Any, name: str) -> str | None:
    """Parse a condition into its code. A text that is none of the seven stays unchanged."""
    condition = parse_text(value, name)
    return None if condition is None else _condition_code(condition)


def parse_seller(value: Any, name: str) -> str | None:
    """Parse a seller: a name, or an object with a `name`."""
    return parse_text(value.get("name") if type(value) is dict else value, name)


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
        raise InvalidValue(f"{name} must begin with https://, not be {quoted_json(value)}")
    return re.split("[?#]", url, maxsplit=1)[0]


def quoted_json(value: Any) -> str:
    """Return a value as JSON for a message. A long one is cut."""
    quoted = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    return quoted if len(quoted) <= _MAX_QUOTED_CHARACTERS else f"{quoted[:_MAX_QUOTED_CHARACTERS]}…"


@lru_cache(maxsize=10_000)
def _parse_price_text(value: str, name: str) -> float | None:
    digits = "".join(value.split()).removeprefix("€").removesuffix("€")
    if digits in _NO_PRICE:
        return None
    site = _SITE_PRICE.fullmatch(digits)
    if site:
        return float(f"{site[1].replace('.', '')}.{site[2] or 0}")
    if _PLAIN_PRICE.fullmatch(digits):
        return float(digits)
    raise InvalidValue(f"{name} is no price: {quoted_json(value)}")


@lru_cache(maxsize=10_000)
def _condition_code(condition: str) -> str:
    return _CODES.get(" ".join(condition.split()).casefold(), condition)
