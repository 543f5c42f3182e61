"""Values as a scraper reads them off the marketplace's pages, as the lake has them.

Each reader takes a JSON value and the name it goes by. What is not there (null, or empty text) reads as None; what is
there and cannot be read is a Refusal, which names it.
"""

import json
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

CONDITIONS = {
    "MT": "Mint",
    "NM": "Near Mint",
    "EX": "Excellent",
    "GD": "Good",
    "LP": "Light Played",
    "PL": "Played",
    "PO": "Poor",
}
MOST = 10_000_000_000_000  # euros: the most that a build takes
_CODES = {word.casefold(): code for code, name in CONDITIONS.items() for word in (code, name)}
_INTEGERS = range(-(2**63), 2**63)
# As on the site: a decimal comma, points between thousands. Otherwise a point is a decimal point.
_SITE_PRICE = re.compile(r"([0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)(?:,([0-9]+))?", re.ASCII)
_PLAIN_PRICE = re.compile(r"[0-9]+\.[0-9]+", re.ASCII)
_COUNT = re.compile(r"[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+", re.ASCII)
_NO_PRICE = {"", "-", "–", "—", "N/A"}


class Refusal(ValueError):
    """Why a line cannot be imported."""


def text(value: Any, name: str) -> str | None:
    """Text without white space around it."""
    if value is None:
        return None
    if type(value) is not str:
        raise Refusal(f"{name} must be text, not {shown(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Refusal(f"{name} holds half of a surrogate pair: {shown(value)}") from None
    return value.strip() or None


def price(value: Any, name: str) -> float | None:
    """Euros: a number, or text as on the site (`0,02 €`, `1.234,56 €`, `N/A`) or with a decimal point (`9.80`)."""
    if type(value) is str:
        value = _price_of(value, name)
    if value is None:
        return None
    if type(value) is not float and type(value) is not int:
        raise Refusal(f"{name} must be a price, not {shown(value)}")
    if not 0 <= value <= MOST:
        raise Refusal(f"{name} is no price: {shown(value)}")
    return value + 0.0  # which leaves no negative zero


def count(value: Any, name: str) -> int | None:
    """How many: an integer, or text such as `1` or `1.044`."""
    if type(value) is str:
        digits = "".join(value.split())
        if digits and not _COUNT.fullmatch(digits):
            raise Refusal(f"{name} must be a count, not {shown(value)}")
        value = int(digits.replace(".", "")[:30]) if digits else None
    if value is None:
        return None
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or value < 0 or value not in _INTEGERS:
        raise Refusal(f"{name} must be a count, not {shown(value)}")
    return value


def identifier(value: Any, name: str) -> int | None:
    """An id of the marketplace."""
    if value is not None and (type(value) is not int or value not in _INTEGERS):
        raise Refusal(f"{name} must be an integer, not {shown(value)}")
    return value


def moment(value: Any, name: str) -> datetime | None:
    """A time as ISO 8601, in UTC without a zone; one that has no zone is UTC already."""
    if value is None or value == "":
        return None
    try:
        if len(value) <= len("2026-07-26"):
            raise ValueError("a day is no time")
        time = datetime.fromisoformat(value.strip())
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise Refusal(f"{name} must be a time such as 2026-07-26T02:44:32Z, not {shown(value)}") from None


def condition(value: Any, name: str) -> str | None:
    """The code of a condition; what is none of the seven stays as it is written."""
    written = text(value, name)
    return None if written is None else _code(written)


def page(value: Any, name: str) -> str | None:
    """The address of a page, without query and fragment."""
    address = text(value, name)
    if address is None:
        return None
    if not address.startswith(("https://", "http://")):
        raise Refusal(f"{name} must begin with https://, not be {shown(value)}")
    return re.split("[?#]", address, maxsplit=1)[0]


def shown(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    written = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    return written if len(written) <= 60 else f"{written[:60]}…"


@lru_cache(maxsize=10_000)
def _price_of(value: str, name: str) -> float | None:
    figure = "".join(value.split()).removeprefix("€").removesuffix("€")
    if figure in _NO_PRICE:
        return None
    site = _SITE_PRICE.fullmatch(figure)
    if site:
        return float(f"{site[1].replace('.', '')}.{site[2] or 0}")
    if _PLAIN_PRICE.fullmatch(figure):
        return float(figure)
    raise Refusal(f"{name} is no price: {shown(value)}")


@lru_cache(maxsize=10_000)
def _code(written: str) -> str:
    return _CODES.get(" ".join(written.split()).casefold(), written)
