"""Strict reading of the query: every parameter must be known, occur once, and obey its rule, else InvalidParameter."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, ClassVar
from urllib.parse import unquote_to_bytes

from edge_auth.errors import InvalidParameter
from generator.storage.catalogue import KINDS
from generator.storage.text import MAX_DIGITS

_INTEGER = re.compile("-?[0-9]+")
_ONE_ID = re.compile(f"-?[0-9]{{1,{MAX_DIGITS}}}")
_PRICE = re.compile(r"([0-9]+)(?:\.([0-9]{1,2}))?")
_CUT_DIGITS = 20  # ids have 64 bits; Python refuses to read very long numbers
_MAX_QUOTED_CHARACTERS = 40
_MIN_NEARNESS = 0.7
# What other APIs call these parameters.
_ALIASES = {
    "offset": ("page", "skip", "start"),
    "limit": ("per_page", "page_size", "count"),
    "q": ("search", "query", "name"),
    "set": ("expansion",),
    "sort": ("order_by",),
}


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What the text of a parameter may be. `repeated` ends the message about a repeated parameter."""

    default: Any = None
    required: bool = False
    repeated: ClassVar[str] = ""

    def read(self, name: str, text: str) -> Any:
        """Return the value of a text. Messages about one that is not allowed begin with the name of the parameter."""
        raise NotImplementedError


@dataclass(frozen=True)
class Integer(Rule):
    """An integer from `low` to `high`; None means no upper bound."""

    low: int
    high: int | None = None

    def read(self, name: str, text: str) -> int:
        allowed = f"from {self.low} to {self.high}" if self.high is not None else f"of at least {self.low}"
        if not _INTEGER.fullmatch(text):
            raise InvalidParameter(f"{name} must be an integer {allowed}, not {quote_input(text)}")
        if len(text.lstrip("-")) > MAX_DIGITS:
            raise InvalidParameter(f"{name} must be an integer {allowed}, of at most {MAX_DIGITS} digits")
        value = int(text)
        if value < self.low or (self.high is not None and value > self.high):
            raise InvalidParameter(f"{name} must be an integer {allowed}, not {value}")
        return value


@dataclass(frozen=True)
class ProductId(Rule):
    """The id of a product or a set: any integer. One of more digits than an id may have is cut: no product has it."""

    def read(self, name: str, text: str) -> int:
        if not _INTEGER.fullmatch(text):
            raise InvalidParameter(f"{name} must be an integer, not {quote_input(text)}")
        digits = int(text.lstrip("-").lstrip("0")[:_CUT_DIGITS] or "0")
        return -digits if text.startswith("-") else digits


@dataclass(frozen=True)
class Choice(Rule):
    """One of several values. Upper and lower case differ."""

    values: Collection[str]

    def read(self, name: str, text: str) -> str:
        if text not in self.values:
            raise InvalidParameter(f"{name} must be one of {', '.join(self.values)}, not {quote_input(text)}")
        return text


@dataclass(frozen=True)
class Text(Rule):
    """A text of at most `max_characters` characters. An empty one means that the parameter is absent, or is refused."""

    max_characters: int
    refuses_empty: bool = False

    def read(self, name: str, text: str) -> str | None:
        if self.refuses_empty and not text:
            raise InvalidParameter(f"{name} must have from 1 to {self.max_characters} characters")
        if len(text) > self.max_characters:
            raise InvalidParameter(f"{name} must be at most {self.max_characters} characters long, not {len(text)}")
        return text or None


@dataclass(frozen=True)
class BuildId(Rule):
    """The id of a build, whether there is such a build or not. An empty text is refused."""

    def read(self, name: str, text: str) -> str:
        if not text:
            raise InvalidParameter(f"{name} must be the id of a build, such as X-Build of an answer names it")
        return text


@dataclass(frozen=True)
class Price(Rule):
    """A price in euros with at most two decimals. Its value is in cents."""

    def read(self, name: str, text: str) -> int:
        found = _PRICE.fullmatch(text)
        if found is None or sum(map(str.isdigit, text)) > MAX_DIGITS:
            raise InvalidParameter(
                f"{name} must be a price such as 5 or 0.25, of at most {MAX_DIGITS} digits, not {quote_input(text)}"
            )
        return int(found[1]) * 100 + int((found[2] or "").ljust(2, "0"))


@dataclass(frozen=True)
class IdList(Rule):
    """From 1 to `most` integers, separated by commas. Other parameters beside it must have their default values."""

    most: int
    repeated = ": separate its values by commas"

    def read(self, name: str, text: str) -> tuple[int, ...]:
        allowed = f"integers of at most {MAX_DIGITS} digits"
        return tuple(dict.fromkeys(map(int, _parts(name, text, self.most, "ids", allowed, _ONE_ID))))


@dataclass(frozen=True)
class TextList(Rule):
    """From 1 to `most` texts of 1 to `max_characters` characters, separated by commas."""

    most: int
    max_characters: int
    repeated = IdList.repeated

    def read(self, name: str, text: str) -> tuple[str, ...]:
        allowed = f"texts of 1 to {self.max_characters} characters"
        one = re.compile(f"(?s:.{{1,{self.max_characters}}})")
        return tuple(dict.fromkeys(_parts(name, text, self.most, "texts", allowed, one)))


def _parts(name: str, text: str, most: int, what: str, allowed: str, one: re.Pattern[str]) -> list[str]:
    parts = text.split(",", most)
    if len(parts) > most:
        raise InvalidParameter(f"{name} may hold at most {most} {what}")
    for part in parts:
        if not one.fullmatch(part):
            raise InvalidParameter(f"{name} must be {allowed}, separated by commas, not {quote_input(part)}")
    return parts


@dataclass(frozen=True)
class NameList(Rule):
    """From 1 to `most` names, one a line. White space around them and empty lines do not count."""

    most: int
    max_characters: int
    repeated = ": write one name a line, with %0A between them"

    def read(self, name: str, text: str) -> tuple[str, ...]:
        names = list(filter(None, map(str.strip, text.split("\n"))))
        if not 1 <= len(names) <= self.most:
            raise InvalidParameter(f"{name} must hold 1 to {self.most} names, one a line, not {len(names)}")
        if len(longest := max(names, key=len)) > self.max_characters:
            raise InvalidParameter(
                f"{name} must be names of at most {self.max_characters} characters, not {quote_input(longest)}"
            )
        return tuple(dict.fromkeys(names))


MAX_TEXT_CHARACTERS = 200  # of a text parameter, before it is folded
GAME: dict[str, Rule] = {"game": Text(MAX_TEXT_CHARACTERS)}
KIND: dict[str, Rule] = {"kind": Choice(KINDS, default="all")}
DAYS: dict[str, Rule] = {"days": Integer(1, 3650)}


def page(default: int, most: int) -> dict[str, Rule]:
    return {"limit": Integer(1, most, default=default), "offset": Integer(0, default=0)}


def read_query(query: str, rules: Mapping[str, Rule]) -> dict[str, Any]:
    """Return the value of every parameter in `rules` from a raw query string."""
    values = {}
    for field in filter(None, query.split("&")):
        raw_name, _, raw_value = field.partition("=")
        name = _decode(raw_name)
        if name is None or name not in rules:
            raise InvalidParameter(_unknown_parameter(name or raw_name, rules))
        if name in values:
            raise InvalidParameter(f"{name} may be given only once{rules[name].repeated}")
        text = _decode(raw_value)
        if text is None:
            raise InvalidParameter(f"{name} must be UTF-8 text, percent-encoded")
        values[name] = rules[name].read(name, text)
    for name, rule in rules.items():
        if rule.required and name not in values:
            raise InvalidParameter(f"{name} is missing: this endpoint needs it")
    defaults = {name: rule.default for name, rule in rules.items()}
    alone = next((name for name in values if isinstance(rules[name], IdList)), None)
    for name, value in values.items() if alone else ():
        if name != alone and value != defaults[name]:
            allowed = "absent" if defaults[name] is None else f"{defaults[name]} or absent"
            raise InvalidParameter(f"beside {alone}, {name} must be {allowed}")
    return defaults | values


def quote_input(text: str) -> str:
    """Return a text of the client, quoted and shortened for an error message."""
    return repr(text if len(text) <= _MAX_QUOTED_CHARACTERS else text[:_MAX_QUOTED_CHARACTERS] + "…")


def _decode(raw: str) -> str | None:
    if raw.isalnum() and raw.isascii():  # nearly every name and value
        return raw
    try:
        return unquote_to_bytes(raw.replace("+", " ").encode("latin-1")).decode()
    except UnicodeError:
        return None


def _unknown_parameter(name: str, rules: Mapping[str, Rule]) -> str:
    if not rules:
        return f"unknown parameter {quote_input(name)}: this endpoint takes none"
    lower = name[:_MAX_QUOTED_CHARACTERS].lower()
    usual = [known for known in rules if lower.replace("-", "_") in _ALIASES.get(known, ())]
    near = usual + get_close_matches(lower, rules, 1, cutoff=_MIN_NEARNESS)
    hint = f"did you mean {near[0]}? Known are" if near else "known are"
    return f"unknown parameter {quote_input(name)}: {hint} {', '.join(rules)}"
