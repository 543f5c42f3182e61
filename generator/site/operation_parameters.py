"""Makes the parameters of the OpenAPI document from the rules of the endpoints and their prose."""

import json
from collections.abc import Iterator
from typing import Any

from edge_auth.api.endpoints import Endpoint
from edge_auth.api.parameters import (
    BuildId,
    Choice,
    GivenText,
    IdList,
    Integer,
    NameList,
    Price,
    ProductId,
    Required,
    Rule,
    Text,
    TextList,
)
from edge_auth.errors import RangeNotSatisfiable
from edge_auth.text import MAX_DIGITS
from generator.site.prose import PARAMETERS, Prose

_Json = dict[str, Any]


def parameters(endpoint: Endpoint, prose: Prose) -> list[_Json]:
    """Return the parameters of an endpoint: those of the path, of the query, and headers.

    Raises:
        SiteError: A parameter has no row.
    """
    return [
        _parameter(endpoint, prose, name, place, schema)
        for place, found in (
            ("path", _in_path(endpoint)),
            ("query", _in_query(endpoint)),
            ("header", _headers(endpoint)),
        )
        for name, schema in found
    ]


def schema_of(rule: Rule) -> _Json:
    """Return the JSON Schema of the values that a rule allows."""
    match rule:
        case Integer():
            schema: _Json = {"type": "integer", "minimum": rule.low, "maximum": rule.high or 10**MAX_DIGITS - 1}
        case ProductId():
            schema = {"type": "integer", "format": "int64"}
        case Choice():
            schema = {"type": "string", "enum": list(rule.values)}
        case GivenText():
            schema = {"type": "string", "minLength": 1, "maxLength": rule.max_characters}
        case Text():
            schema = {"type": "string", "maxLength": rule.max_characters}
        case Price():
            schema = {"type": "number", "minimum": 0, "maximum": 10**MAX_DIGITS - 1}
        case IdList():
            one = f"-?[0-9]{{1,{MAX_DIGITS}}}"
            schema = {"type": "string", "pattern": f"^{one}(,{one}){{0,{rule.max_ids - 1}}}$"}
        case TextList():
            one = f"[^,]{{1,{rule.max_characters}}}"
            schema = {"type": "string", "pattern": f"^{one}(,{one}){{0,{rule.max_texts - 1}}}$"}
        case NameList():
            one = f"[^\\s\\x00-\\x1f\\x85][^\\n]{{0,{rule.max_characters - 1}}}"
            schema = {"type": "string", "pattern": f"^{one}(\\n{one}){{0,{rule.max_names - 1}}}$"}
        case BuildId():
            schema = {"type": "string", "minLength": 1}
        case Required():
            schema = schema_of(rule.rule)
        case _:
            raise TypeError(f"{type(rule).__name__} has no schema: add it here")
    return schema if rule.default is None else schema | {"default": rule.default}


def _parameter(endpoint: Endpoint, prose: Prose, name: str, place: str, schema: _Json) -> _Json:
    text, example = prose.sentence(endpoint.path, PARAMETERS, name, **schema)
    described = {
        "name": name,
        "in": place,
        "required": place == "path" or isinstance((endpoint.rules or {}).get(name), Required),
        "description": text,
        "schema": schema,
    }
    if example:
        described["example"] = json.loads(example) if schema["type"] in ("integer", "number") else example
    return described


def _in_path(endpoint: Endpoint) -> Iterator[tuple[str, _Json]]:
    for name in endpoint.subjects:
        yield name, schema_of(endpoint.subject) if endpoint.subject else {"type": "string", "minLength": 1}


def _in_query(endpoint: Endpoint) -> Iterator[tuple[str, _Json]]:
    for name, rule in (endpoint.rules or {}).items():
        yield name, schema_of(rule)


def _headers(endpoint: Endpoint) -> Iterator[tuple[str, _Json]]:
    names = ["Range", "If-Range"] if RangeNotSatisfiable in endpoint.errors else []
    names += ["X-Build"] if endpoint.of_build else []
    for name in (*names, "If-None-Match"):
        yield name, {"type": "string"}
