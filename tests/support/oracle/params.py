"""Query parameters: what each endpoint takes and when a value is refused."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import unquote_to_bytes

from tests.support.oracle.text import words


class Refused(Exception):
    """400 invalid_parameter; holds the parameter's name."""


@dataclass(frozen=True)
class IntegerParameter:
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
class ChoiceParameter:
    default: str | None
    allowed: tuple[str, ...]

    def read(self, text: str) -> str:
        if text not in self.allowed:
            raise ValueError
        return text


@dataclass(frozen=True)
class TextParameter:
    default: str = ""
    most: int | None = None

    def read(self, text: str) -> str:
        if self.most is not None and len(text) > self.most:
            raise ValueError
        return text


@dataclass(frozen=True)
class GivenTextParameter:
    """A text of at least one character."""

    most: int
    default: None = None

    def read(self, text: str) -> str:
        if not 0 < len(text) <= self.most:
            raise ValueError
        return text


@dataclass(frozen=True)
class IdParameter:
    """Any integer, as text."""

    default: None = None

    def read(self, text: str) -> str:
        if not re.fullmatch("-?[0-9]+", text):
            raise ValueError
        return text


@dataclass(frozen=True)
class PriceParameter:
    """A price of at most two decimals and 18 digits, exactly."""

    default: None = None

    def read(self, text: str) -> Decimal:
        if not re.fullmatch(r"[0-9]+(\.[0-9]{1,2})?", text) or len(text.replace(".", "")) > 18:
            raise ValueError
        return Decimal(text)


@dataclass(frozen=True)
class IdsParameter:
    """Up to 100 integers, repeated ones among them."""

    default: None = None

    def read(self, text: str) -> list[int]:
        parts = text.split(",")
        if len(parts) > 100:
            raise ValueError
        return [IntegerParameter(None, -(10**18), None).read(part) for part in parts]


@dataclass(frozen=True)
class ValuesParameter:
    """From 1 to 100 texts; it must be there."""

    default: None = None

    def read(self, text: str) -> list[str]:
        parts = text.split(",")
        if len(parts) > 100 or not all(1 <= len(part) <= 200 for part in parts):
            raise ValueError
        return parts


@dataclass(frozen=True)
class NamesParameter:
    """From 1 to 100 lines that are not blank, without the white space around them; it must be there."""

    default: None = None

    def read(self, text: str) -> list[str]:
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        if not 1 <= len(lines) <= 100 or any(len(line) > 200 for line in lines):
            raise ValueError
        return lines


SORTS = ("trend", "low", "avg", "filtered", "market", "name", "number", "newest", "match")
GAME = TextParameter(most=200)
FLAG = ChoiceParameter("false", ("true", "false"))
ListParameter = IdsParameter | ValuesParameter | NamesParameter
Parameter = IntegerParameter | ChoiceParameter | TextParameter | PriceParameter | ListParameter
Parameters = dict[str, Parameter | GivenTextParameter | IdParameter]


def paging(default: int, most: int) -> Parameters:
    return {"limit": IntegerParameter(default, 1, most), "offset": IntegerParameter(0, 0, None)}


FILTERS: Parameters = {
    "min_price": PriceParameter(),
    "max_price": PriceParameter(),
    "game": GAME,
    "q": TextParameter(most=100),
    "find": TextParameter(most=100),
    "set": TextParameter(),
    "number": TextParameter(),
    "rarity": TextParameter(),
    "kind": ChoiceParameter("all", ("all", "single", "sealed")),
}
PARAMETERS: dict[str, Parameters] = {  # of the endpoints but `oracle.PLAIN_LISTS`
    "status": {},
    "fingerprints": {},
    "item": {},
    "offers": {},
    "history": {
        "view": ChoiceParameter("daily", ("daily", "weekly", "monthly")),
        "range": ChoiceParameter("all", ("all", "30d", "90d", "365d")),
    },
    "cards": {
        **FILTERS,
        "ids": IdsParameter(),
        "sort": ChoiceParameter("trend", SORTS),
        "order": ChoiceParameter(None, ("asc", "desc")),
        **paging(50, 100),
    },
    "facets": FILTERS,
    "names": {"game": GAME},
    "named": {"names": NamesParameter(), "game": GAME, "kind": FILTERS["kind"], "printings": FLAG},
    "series": {"ids": IdsParameter()},
    "card": {"days": IntegerParameter(None, 1, 3650)},
    "card identifiers": {},
    "scheme": {"values": ValuesParameter()},
    "sets": {"q": TextParameter(), "game": GAME, **paging(100, 1000)},
    "movers": {
        "window": ChoiceParameter("7d", ("1d", "7d", "30d")),
        "by": ChoiceParameter("percent", ("percent", "euros")),
        "direction": ChoiceParameter("up", ("up", "down")),
        "kind": ChoiceParameter("all", ("all", "single", "sealed")),
        "min_price": ChoiceParameter("1", ("0", "1", "5", "20", "100")),
        "confirmed": FLAG,
        "game": GAME,
        **paging(50, 100),
    },
    "market": {
        "by": ChoiceParameter("set", ("set", "game")),
        "game": GAME,
        "sort": ChoiceParameter("value", ("value", "change_7d", "change_30d", "name")),
        "order": ChoiceParameter(None, ("asc", "desc")),
        **paging(100, 500),
    },
    "market/history": {
        "set": IdParameter(),
        "game": GivenTextParameter(200),
        "days": IntegerParameter(None, 1, 3650),
    },
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
    if endpoint == "series" and "ids" not in seen:
        raise Refused("ids")
    if endpoint == "named" and "names" not in seen:
        raise Refused("names")
    if endpoint == "scheme" and "values" not in seen:
        raise Refused("values")
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
