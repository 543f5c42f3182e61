"""Query parameters: what each endpoint takes and when a value is refused."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from tests.support.oracle.cards import SORT_KEYS, TEXT_FILTERS
from tests.support.oracle.text import words


class Refused(Exception):
    """400 invalid_parameter; holds the parameter's name."""


class Parameter(NamedTuple):
    """What reads a text, or raises ValueError; and the value when the parameter is left out."""

    read: Callable[[str], Any]
    default: Any = None


def integer(default: int | None, least: int, most: int | None) -> Parameter:
    def read(text: str) -> int:
        require(re.fullmatch("-?[0-9]+", text) and len(text.lstrip("-")) <= 18)
        value = int(text)
        require(value >= least and (most is None or value <= most))
        return value

    return Parameter(read, default)


def choice(default: str | None, *allowed: str) -> Parameter:
    return Parameter(lambda text: require(text in allowed) or text, default)


def text(most: int | None = None, least: int = 0, default: str | None = "") -> Parameter:
    return Parameter(lambda text: require(least <= len(text) and (most is None or len(text) <= most)) or text, default)


def require(holds: object) -> None:
    if not holds:
        raise ValueError


def read_id(text: str) -> str:
    require(re.fullmatch("-?[0-9]+", text))
    return text


def read_price(text: str) -> Decimal:
    """A price of at most two decimals and 18 digits, exactly."""
    require(re.fullmatch(r"[0-9]+(\.[0-9]{1,2})?", text) and len(text.replace(".", "")) <= 18)
    return Decimal(text)


def read_ids(text: str) -> list[int]:
    """Up to 100 integers, repeated ones among them."""
    parts = text.split(",")
    require(len(parts) <= 100)
    return [integer(None, -(10**18), None).read(part) for part in parts]


def read_values(text: str) -> list[str]:
    parts = text.split(",")
    require(len(parts) <= 100 and all(1 <= len(part) <= 200 for part in parts))
    return parts


def read_names(text: str) -> list[str]:
    """From 1 to 100 lines that are not blank, without the white space around them."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    require(1 <= len(lines) <= 100 and all(len(line) <= 200 for line in lines))
    return lines


SORTS = (*SORT_KEYS, "match")
GAME = text(200)
FLAG = choice("false", "true", "false")
NEEDED = {"series": "ids", "named": "names", "scheme": "values"}  # by endpoint
Parameters = dict[str, Parameter]


def paging(default: int, most: int) -> Parameters:
    return {"limit": integer(default, 1, most), "offset": integer(0, 0, None)}


FILTERS: Parameters = {
    "min_price": Parameter(read_price),
    "max_price": Parameter(read_price),
    "q": text(100),
    "find": text(100),
    "set": text(),
    **dict.fromkeys(TEXT_FILTERS, text(200)),
    "kind": choice("all", "all", "single", "sealed"),
}
PARAMETERS: dict[str, Parameters] = {  # of the endpoints but `oracle.PLAIN_LISTS`
    "status": {},
    "fingerprints": {},
    "item": {},
    "offers": {},
    "history": {
        "view": choice("daily", "daily", "weekly", "monthly"),
        "range": choice("all", "all", "30d", "90d", "365d"),
    },
    "cards": {
        **FILTERS,
        "ids": Parameter(read_ids),
        "sort": choice("trend", *SORTS),
        "order": choice(None, "asc", "desc"),
        **paging(50, 100),
    },
    "facets": FILTERS,
    "names": {"game": GAME},
    "named": {"names": Parameter(read_names), "game": GAME, "kind": FILTERS["kind"], "printings": FLAG},
    "series": {"ids": Parameter(read_ids)},
    "card": {"days": integer(None, 1, 3650)},
    "card identifiers": {},
    "scheme": {"values": Parameter(read_values)},
    "sets": {"q": text(), "game": GAME, **paging(100, 1000)},
    "movers": {
        "window": choice("7d", "1d", "7d", "30d"),
        "by": choice("percent", "percent", "euros"),
        "direction": choice("up", "up", "down"),
        "kind": choice("all", "all", "single", "sealed"),
        "min_price": choice("1", "0", "1", "5", "20", "100"),
        "confirmed": FLAG,
        "game": GAME,
        **paging(50, 100),
    },
    "market": {
        "by": choice("set", "set", "game"),
        "game": GAME,
        "sort": choice("value", "value", "change_7d", "change_30d", "name"),
        "order": choice(None, "asc", "desc"),
        **paging(100, 500),
    },
    "market/history": {"set": Parameter(read_id), "game": text(200, 1, None), "days": integer(None, 1, 3650)},
}


def read(endpoint: str, known: Parameters, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Every parameter that the endpoint knows with its value or default; raises Refused."""
    values = {name: spec.default for name, spec in known.items()}
    seen = set()
    for name, text in pairs:
        if name not in known or name in seen:
            raise Refused(name)
        seen.add(name)
        try:
            values[name] = known[name].read(text)
        except ValueError:
            raise Refused(name) from None
    if "ids" in seen and any(values[name] != known[name].default for name in seen - {"ids"}):
        raise Refused("ids")
    if endpoint in NEEDED and NEEDED[endpoint] not in seen:
        raise Refused(NEEDED[endpoint])
    has_words = any(words(values.get(name) or "") for name in ("q", "find"))
    if values.get("sort") == "match" and (not has_words or values["order"] is not None):
        raise Refused("sort")
    if endpoint == "market/history" and (values["set"] is None) == (values["game"] is None):
        raise Refused("set")
    least, most = values.get("min_price"), values.get("max_price")
    if least is not None and most is not None and least > most:
        raise Refused("min_price")
    return values


def split_query(query: str) -> list[tuple[str, str]]:
    """The decoded pairs of a raw query string; raises Refused where bytes are no UTF-8."""
    parts = [part.partition("=") for part in query.split("&") if part]
    try:
        return [(decode(name, plus=True), decode(value, plus=True)) for name, _, value in parts]
    except UnicodeDecodeError:
        raise Refused(query) from None


def decode(text: str, *, plus: bool = False) -> str:
    return unquote_to_bytes(text.replace("+", " ") if plus else text).decode("utf-8")
