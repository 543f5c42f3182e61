"""Strict reading of the query: every parameter known, given once, of its type and within its bounds.

Each refusal is a 400 whose message names the parameter and what is allowed (contract, section 2).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Protocol
from urllib.parse import unquote_to_bytes

from edge_auth.errors import InvalidParameter

_INTEGER = re.compile("-?[0-9]+")
_MOST_DIGITS = 18


class Rule(Protocol):
    """What a parameter may be; `default` stands for an absent one."""

    default: object

    def read(self, name: str, text: str) -> object: ...


@dataclass(frozen=True)
class Integer:
    """An integer from `low` to `high` (None: unbounded)."""

    low: int
    high: int | None = None
    default: int | None = None

    def read(self, name: str, text: str) -> int:
        allowed = f"from {self.low} to {self.high}" if self.high is not None else f"of at least {self.low}"
        if not is_integer(text):
            raise InvalidParameter(f"{name} must be an integer {allowed}, not {shown(text)}")
        if len(text.lstrip("-")) > _MOST_DIGITS:
            raise InvalidParameter(f"{name} must be an integer {allowed}, of at most {_MOST_DIGITS} digits")
        value = int(text)
        if value < self.low or (self.high is not None and value > self.high):
            raise InvalidParameter(f"{name} must be an integer {allowed}, not {value}")
        return value


@dataclass(frozen=True)
class Choice:
    """One of a few values, exactly."""

    values: Sequence[str]
    default: str | None = None

    def read(self, name: str, text: str) -> str:
        if text not in self.values:
            raise InvalidParameter(f"{name} must be one of {', '.join(self.values)}, not {shown(text)}")
        return text


@dataclass(frozen=True)
class Text:
    """Any text of at most `longest` characters; an empty one is as good as none."""

    longest: int | None = None
    default: None = None

    def read(self, name: str, text: str) -> str | None:
        if self.longest is not None and len(text) > self.longest:
            raise InvalidParameter(f"{name} must be at most {self.longest} characters long, not {len(text)}")
        return text or None


def read_query(query: str, rules: Mapping[str, Rule]) -> dict:
    """The value of every parameter in `rules`, read from a raw query string.

    Raises:
        InvalidParameter: a parameter is unknown, repeated, no UTF-8, or not what its rule allows.
    """
    values = {}
    for piece in filter(None, query.split("&")):
        raw_name, _, raw_value = piece.partition("=")
        name = _decoded(raw_name)
        if name is None or name not in rules:
            raise InvalidParameter(_unknown(name or raw_name, rules))
        if name in values:
            raise InvalidParameter(f"{name} may be given only once")
        text = _decoded(raw_value)
        if text is None:
            raise InvalidParameter(f"{name} must be UTF-8 text, percent-encoded")
        values[name] = rules[name].read(name, text)
    return {name: values.get(name, rule.default) for name, rule in rules.items()}


def is_integer(text: str) -> bool:
    """Whether a text is ASCII digits with an optional leading minus."""
    return _INTEGER.fullmatch(text) is not None


def shown(text: str) -> str:
    """A client's own text as a message repeats it."""
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _decoded(raw: str) -> str | None:
    try:
        return unquote_to_bytes(raw.replace("+", " ").encode("latin-1")).decode()
    except UnicodeError:
        return None


def _unknown(name: str, rules: Mapping[str, Rule]) -> str:
    if not rules:
        return f"unknown parameter {shown(name)}: this endpoint takes none"
    nearest = get_close_matches(name[:40].lower(), rules, 1, cutoff=0)[0]
    return f"unknown parameter {shown(name)}: did you mean {nearest}? Known are {', '.join(rules)}"
