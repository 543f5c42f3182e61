"""What a request may ask, as a frozen dataclass: its fields are the parameters, in the order of messages and documents.

    @dataclass(frozen=True)
    class SetsQuery:
        q: str | None = optional(Text(200))
        limit: int = parameter(Integer(1, 1000), 100)

`read_query` is strict: every parameter must be known, occur once, and obey its rule, else InvalidParameter.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, ClassVar, Generic, TypeVar
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
_OF_FIELD = ""  # in the metadata of a field: the parameter that has its name
# What other APIs call these parameters.
_KEY_NAMES = ("api_key", "apikey", "key", "token", "access_token")
_ALIASES = {
    "offset": ("page", "skip", "start"),
    "limit": ("per_page", "page_size", "count"),
    "q": ("search", "query", "name"),
    "set": ("expansion",),
    "sort": ("order_by",),
}
T = TypeVar("T")


@dataclass(frozen=True)
class Rule(Generic[T]):
    """What the text of a parameter may be. `repeated` ends the message about a repeated parameter."""

    repeated: ClassVar[str] = ""

    def read(self, name: str, text: str) -> T:
        """Return the value of a text. Messages about one that is not allowed begin with the name of the parameter."""
        raise NotImplementedError


@dataclass(frozen=True)
class Integer(Rule[int]):
    """An integer from `low` to `high`; None means no upper bound."""

    low: int
    high: int | None = None

    def read(self, name: str, text: str) -> int:
        """Return the integer, or raise InvalidParameter with the bounds."""
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
class ProductId(Rule[int]):
    """The id of a product or a set: any integer. One of more digits than an id may have is cut: no product has it."""

    def read(self, name: str, text: str) -> int:
        if not _INTEGER.fullmatch(text):
            raise InvalidParameter(f"{name} must be an integer, not {quote_input(text)}")
        digits = int(text.lstrip("-").lstrip("0")[:_CUT_DIGITS] or "0")
        return -digits if text.startswith("-") else digits


@dataclass(frozen=True)
class Choice(Rule[str]):
    """One of several values. Upper and lower case differ."""

    values: Collection[str]

    def read(self, name: str, text: str) -> str:
        if text not in self.values:
            raise InvalidParameter(f"{name} must be one of {', '.join(self.values)}, not {quote_input(text)}")
        return text


@dataclass(frozen=True)
class Text(Rule[str | None]):
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
class BuildId(Rule[str]):
    """The id of a build, whether there is such a build or not. An empty text is refused."""

    def read(self, name: str, text: str) -> str:
        if not text:
            raise InvalidParameter(f"{name} must be the id of a build, such as X-Build of an answer names it")
        return text


@dataclass(frozen=True)
class Price(Rule[int]):
    """A price in euros with at most two decimals. Its value is in cents."""

    def read(self, name: str, text: str) -> int:
        found = _PRICE.fullmatch(text)
        if found is None or sum(map(str.isdigit, text)) > MAX_DIGITS:
            raise InvalidParameter(
                f"{name} must be a price such as 5 or 0.25, of at most {MAX_DIGITS} digits, not {quote_input(text)}"
            )
        return int(found[1]) * 100 + int((found[2] or "").ljust(2, "0"))


@dataclass(frozen=True)
class IdList(Rule[tuple[int, ...]]):
    """From 1 to `most` integers, separated by commas. Other parameters beside it must have their default values."""

    most: int
    repeated = ": separate its values by commas"

    def read(self, name: str, text: str) -> tuple[int, ...]:
        allowed = f"integers of at most {MAX_DIGITS} digits"
        return tuple(dict.fromkeys(map(int, _parts(name, text, self.most, "ids", allowed, _ONE_ID))))


@dataclass(frozen=True)
class TextList(Rule[tuple[str, ...]]):
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
class NameList(Rule[tuple[str, ...]]):
    """From 1 to `most` names, one a line. White space around them and empty lines do not count."""

    most: int
    max_characters: int
    repeated = ": write one name a line, with %0A between them"

    def read(self, name: str, text: str) -> tuple[str, ...]:
        """Return the names, each once."""
        names = list(filter(None, map(str.strip, text.split("\n"))))
        if not 1 <= len(names) <= self.most:
            raise InvalidParameter(f"{name} must hold 1 to {self.most} names, one a line, not {len(names)}")
        if len(longest := max(names, key=len)) > self.max_characters:
            raise InvalidParameter(
                f"{name} must be names of at most {self.max_characters} characters, not {quote_input(longest)}"
            )
        return tuple(dict.fromkeys(names))


MAX_TEXT_CHARACTERS = 200  # of a text parameter, before it is folded
GAME, KIND, DAYS = Text(MAX_TEXT_CHARACTERS), Choice(KINDS), Integer(1, 3650)


@dataclass(frozen=True)
class Declared:
    """The declaration of a parameter. `default` is its value where it is absent."""

    rule: Rule[Any]
    default: Any = None
    required: bool = False
    among: str = ""  # the field that holds it with other parameters, if it has no field of its own


def parameter(rule: Rule[T], default: T) -> T:
    """Declare a field with the value of a parameter."""
    return _declared(rule, default)


def optional(rule: Rule[T]) -> T | None:
    """Declare a field with the value of a parameter, None where it is absent."""
    return _declared(rule)


def required(rule: Rule[T]) -> T:
    """Declare a field with the value of a parameter that must not be absent."""
    return _declared(rule, required=True)


def several(names: Iterable[str], rule: Rule[T]) -> Mapping[str, T]:
    """Declare a field with the values of several parameters by name, of those that are given."""
    made: Mapping[str, T] = field(default_factory=dict, metadata=dict.fromkeys(names, Declared(rule)))
    return made


def _declared(rule: Rule[T], default: Any = None, required: bool = False) -> T:
    made: T = field(default=default, metadata={_OF_FIELD: Declared(rule, default, required)})
    return made


@dataclass(frozen=True)
class NoQuery:
    """The query of an endpoint that takes no parameters."""


@dataclass(frozen=True)
class PageQuery:
    """The query of a list without filters."""

    limit: int = parameter(Integer(1, 500), 100)
    offset: int = parameter(Integer(0), 0)


def parameters_of(query: Any) -> dict[str, Declared]:
    """Return the parameters that the fields of a query's class declare, by name."""
    found: dict[str, Declared] = {}
    for one in fields(query):
        for name, declared in one.metadata.items():
            found[name or one.name] = replace(declared, among=one.name if name else "")
    return found


def read_query(text: str, query: type[T], declared: Mapping[str, Declared]) -> T:
    """Return the values of the parameters that a raw query string has. `declared` are those of the query's class."""
    values = _read_values(text, declared)
    for name, one in declared.items():
        if one.required and name not in values:
            raise InvalidParameter(f"{name} is missing: this endpoint needs it")
    _require_ids_alone(values, declared)
    for name in [name for name in values if declared[name].among]:
        values.setdefault(declared[name].among, {})[name] = values.pop(name)
    return query(**values)


def _read_values(text: str, declared: Mapping[str, Declared]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for pair in filter(None, text.split("&")):
        raw_name, _, raw_value = pair.partition("=")
        name = _decode(raw_name)
        if name is None or name not in declared:
            raise InvalidParameter(_unknown_parameter(name or raw_name, declared))
        rule = declared[name].rule
        if name in values:
            raise InvalidParameter(f"{name} may be given only once{rule.repeated}")
        value = _decode(raw_value)
        if value is None:
            raise InvalidParameter(f"{name} must be UTF-8 text, percent-encoded")
        values[name] = rule.read(name, value)
    return values


def _require_ids_alone(values: Mapping[str, Any], declared: Mapping[str, Declared]) -> None:
    """Refuse what stands beside a list of ids, unless it has its default value."""
    alone = next((name for name in values if isinstance(declared[name].rule, IdList)), None)
    for name, value in values.items() if alone else ():
        default = declared[name].default
        if name != alone and value != default:
            allowed = "absent" if default is None else f"{default} or absent"
            raise InvalidParameter(f"beside {alone}, {name} must be {allowed}")


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


def _unknown_parameter(name: str, known: Collection[str]) -> str:
    lower = name[:_MAX_QUOTED_CHARACTERS].lower()
    if lower.replace("-", "_") in _KEY_NAMES:
        return f"unknown parameter {quote_input(name)}: a key stands in a header (Authorization, X-API-Key), not here"
    if not known:
        return f"unknown parameter {quote_input(name)}: this endpoint takes none"
    usual = [one for one in known if lower.replace("-", "_") in _ALIASES.get(one, ())]
    near = usual + get_close_matches(lower, known, 1, cutoff=_MIN_NEARNESS)
    hint = f"did you mean {near[0]}? Known are" if near else "known are"
    return f"unknown parameter {quote_input(name)}: {hint} {', '.join(known)}"
