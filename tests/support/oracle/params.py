"""Query parameters: what each endpoint takes and when a value is refused."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import unquote_to_bytes


class Refused(Exception):
    """400 invalid_parameter; holds the parameter's name."""


@dataclass(frozen=True)
class Int:
    default: int | None
    least: int
    most: int | None

    def read(self, text: str) -> int:
        if not re.fullmatch("-?[0-9]+", text) or len(text.lstrip("-")) > 18:
            raise ValueError
        value = int(text)
        if value < self.least or (self.most is not None and value > self.most):
            raise ValueError
        return value


@dataclass(frozen=True)
class Choice:
    default: str | None
    allowed: tuple[str, ...]

    def read(self, text: str) -> str:
        if text not in self.allowed:
            raise ValueError
        return text


@dataclass(frozen=True)
class Text:
    default: str = ""
    most: int | None = None

    def read(self, text: str) -> str:
        if self.most is not None and len(text) > self.most:
            raise ValueError
        return text


@dataclass(frozen=True)
class Price:
    """A price of at most two decimals and 18 digits, exactly."""

    default: None = None

    def read(self, text: str) -> Decimal:
        if not re.fullmatch(r"[0-9]+(\.[0-9]{1,2})?", text) or len(text.replace(".", "")) > 18:
            raise ValueError
        return Decimal(text)


@dataclass(frozen=True)
class Ids:
    """Up to 100 integers, repeated ones among them."""

    default: None = None

    def read(self, text: str) -> list[int]:
        parts = text.split(",")
        if len(parts) > 100:
            raise ValueError
        return [Int(None, -(10**18), None).read(part) for part in parts]


OFFSET = Int(0, 0, None)
SORTS = ("trend", "low", "avg", "filtered", "name", "number", "newest")
GAME = Text(most=200)
PARAMETERS: dict[str, dict[str, Int | Choice | Text | Price | Ids]] = {
    "status": {},
    "fingerprints": {},
    "watchlist": {"limit": Int(100, 1, 500), "offset": OFFSET},
    "item": {},
    "offers": {},
    "history": {
        "view": Choice("daily", ("daily", "weekly", "monthly")),
        "range": Choice("all", ("all", "30d", "90d", "365d")),
    },
    "cards": {
        "ids": Ids(),
        "min_price": Price(),
        "max_price": Price(),
        "game": GAME,
        "q": Text(most=100),
        "set": Text(),
        "number": Text(),
        "rarity": Text(),
        "kind": Choice("all", ("all", "single", "sealed")),
        "sort": Choice("trend", SORTS),
        "order": Choice(None, ("asc", "desc")),
        "limit": Int(50, 1, 100),
        "offset": OFFSET,
    },
    "card": {"days": Int(None, 1, 3650)},
    "sets": {"q": Text(), "game": GAME, "limit": Int(100, 1, 1000), "offset": OFFSET},
    "games": {"limit": Int(100, 1, 500), "offset": OFFSET},
    "movers": {
        "window": Choice("7d", ("1d", "7d", "30d")),
        "by": Choice("percent", ("percent", "euros")),
        "direction": Choice("up", ("up", "down")),
        "kind": Choice("all", ("all", "single", "sealed")),
        "min_price": Choice("1", ("0", "1", "5", "20", "100")),
        "game": GAME,
        "limit": Int(50, 1, 100),
        "offset": OFFSET,
    },
}


def read(endpoint: str, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Every parameter of the endpoint with its value or default; raises Refused."""
    known = PARAMETERS[endpoint]
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
    if "ids" in seen and len(seen) > 1:
        raise Refused("ids")
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
