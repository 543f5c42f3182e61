"""Turns a field's type in words, as `schemas.md` writes it, into JSON Schema and into words for readers.

integer or null, at least 0         {"type": ["integer", "null"], "minimum": 0}
array of Offer, at most 5 items     {"type": "array", "items": {"$ref": "#/components/schemas/Offer"}, "maxItems": 5}
one of the views                    {"type": "string", "enum": ["daily", "weekly", "monthly"]}
string, under any name              {"type": "object", "additionalProperties": {"type": "string"}}
"""

import re
from functools import cache
from typing import Any

from edge_auth.builds import bulk, object_keys, sorts
from edge_auth.errors import API_ERRORS
from edge_auth.live.keys import SCOPES
from edge_auth.search.named import MATCHES
from generator.lake.prices_and_conditions import CONDITIONS

REFERENCE = "#/components/schemas/"
Json = dict[str, Any]

_WORDS: dict[str, tuple[str, ...]] = {
    "kinds": sorts.KINDS[1:],
    "matches": MATCHES,
    "views": object_keys.HISTORY_VIEWS,
    "ranges": tuple(object_keys.HISTORY_RANGES),
    "scopes": SCOPES,
    "conditions": tuple(CONDITIONS),
    "bulk tables": (*bulk.PART_OF_TABLE, *bulk.PRICE_TABLES),
    "bulk formats": tuple(bulk.FORMATS),
    "error codes": tuple(error.code for error in API_ERRORS),
}
_TYPES: dict[str, Json] = {
    **{name: {"type": name} for name in ("string", "integer", "number", "boolean", "object")},
    "int64": {"type": "integer", "format": "int64"},
    "date": {"type": "string", "format": "date"},
    "date-time": {"type": "string", "format": "date-time"},
}
ARRAY_OF = "array of "
_ONE_OF = "one of the "
_UNDER = "under any of the "
_UNDER_NAMES = "under any name"
_OPTIONAL = "optional"
_SEPARATOR = re.compile(r", (?![^(]*\))")  # a comma that is in no parentheses
# The first pattern that matches a whole bound says which members it sets; its groups are their values in order.
_BOUNDS = (
    (re.compile(r"at least (\d+)"), ("minimum",)),
    (re.compile(r"at least (\d+) items?"), ("minItems",)),
    (re.compile(r"at most (\d+) items?"), ("maxItems",)),
    (re.compile(r"(\d+) to (\d+) items"), ("minItems", "maxItems")),
    (re.compile(r"(?=(\d+) items)(\d+) items"), ("minItems", "maxItems")),
    (re.compile(r"like `(.+)`"), ("pattern",)),
    (re.compile(r"always (.+)"), ("const",)),
)


def is_optional(words: str) -> bool:
    """Return whether a field of this type may be absent."""
    return _SEPARATOR.split(words)[-1] == _OPTIONAL


def schema_of(words: str) -> Json:
    """Return the JSON Schema of a type in words.

    Raises:
        ValueError: The words are not a type. The message says what to write.
    """
    type_, *bounds = (part for part in _SEPARATOR.split(words) if part != _OPTIONAL)
    schema = _without_bounds(type_)
    under = [bound.removeprefix(_UNDER) for bound in bounds if bound.startswith(_UNDER)]
    for bound in bounds:
        if not bound.startswith((_UNDER, _UNDER_NAMES)):
            schema |= _bound(bound)
    if _UNDER_NAMES in bounds:
        return {"type": "object", "additionalProperties": schema}
    if not under:
        return schema
    return {"type": "object", "additionalProperties": False, "properties": dict.fromkeys(_declared(under[0]), schema)}


@cache
def for_readers(words: str) -> str:
    """Return a type with the declared words in place of their name: "one of `single`, `sealed`"."""
    for start in (_ONE_OF, _UNDER):
        for name, declared in _WORDS.items():
            listed = ", ".join(f"`{word}`" for word in declared)
            words = words.replace(start + name, start.replace("the ", "") + listed)
    return words


def _without_bounds(type_: str) -> Json:
    if type_.startswith(ARRAY_OF):
        return {"type": "array", "items": schema_of(type_.removeprefix(ARRAY_OF).strip("()"))}
    if type_.startswith(_ONE_OF):
        return {"type": "string", "enum": list(_declared(type_.removeprefix(_ONE_OF)))}
    name = type_.removesuffix(" or null")
    if name[:1].isupper():
        reference = {"$ref": REFERENCE + name}
        return reference if name == type_ else {"anyOf": [reference, {"type": "null"}]}
    if name not in _TYPES:
        raise ValueError(
            f"{type_!r} is no type: write one of {', '.join(_TYPES)}, a resource, 'array of …', 'one of the …'"
        )
    known = _TYPES[name]
    return known | ({} if name == type_ else {"type": [known["type"], "null"]})


def _declared(name: str) -> tuple[str, ...]:
    if name not in _WORDS:
        raise ValueError(f"there are no words {name!r}: write one of {', '.join(_WORDS)}")
    return _WORDS[name]


def _bound(text: str) -> Json:
    for pattern, members in _BOUNDS:
        if found := pattern.fullmatch(text):
            return {
                name: int(value) if value.isdigit() else value
                for name, value in zip(members, found.groups(), strict=True)
            }
    raise ValueError(f"{text!r} is no bound: write one of 'at least 0', '1 to 5 items', 'like `regex`', 'always text'")
