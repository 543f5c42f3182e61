"""The OpenAPI document of the API, which the layer `site` stores as the object `openapi.json`.

It joins what the views declare, the texts and the client guide. The document of a build has examples that the build
answers. All functions raise SiteError where a row of a text is missing or malformed.

The guide is a part of docs/api.md. The reference shows it too, and llms.txt begins with it. Its tables repeat what the
code declares; `make golden` writes them.
"""

import csv
import json
import os
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from edge_auth import errors
from edge_auth.api.blueprints import ENDPOINTS
from edge_auth.api.endpoint import HINT, Endpoint
from edge_auth.live.counter import WINDOW_SECONDS
from edge_auth.parameters import BuildId, Choice, IdList, Integer, NameList, Price, ProductId, Rule, Text, TextList
from generator.site.texts import HEADERS, PARAMETERS, REFERENCE, STATUSES, TAGS, Json, Prose, schemas
from generator.storage.bulk import FORMATS
from generator.storage.text import MAX_DIGITS
from generator.templates import packaged

_TEXT: Json = {"type": "string"}
_COUNT: Json = {"type": "integer", "minimum": 0}
_TAG = {"type": "string", "pattern": '^"[^"]+"$'}
_RATE: Json = {
    "X-RateLimit-Limit": {"type": "integer", "minimum": 1},
    "X-RateLimit-Remaining": _COUNT,
    "X-RateLimit-Reset": {"type": "integer"},
}
_KEY_ERRORS = (errors.NoKey, errors.InvalidKey, errors.ExpiredKey, errors.RevokedKey)
_GUIDE = re.compile(r"<!-- the guide: [^>]*-->\n\n(.*?\n)\n## Endpoints\n", re.DOTALL)


def errors_of(endpoint: Endpoint) -> list[type[errors.ApiError]]:
    """Return the errors that an endpoint can return: those of its look-up, and those of the checks before it."""
    of_keys = () if endpoint.public else (*_KEY_ERRORS, errors.InsufficientScope)
    return [
        errors.InvalidParameter,
        *endpoint.errors,
        *of_keys,
        errors.RateLimited,
        errors.MethodNotAllowed,
        errors.InternalError,
    ]


@cache
def recorded_messages() -> dict[tuple[str, str], str]:
    """Return what the shim says to refused requests, by path and code; the path '' stands for all other paths.

    `make golden` records the rows of `refusals.csv` from a running shim.
    """
    lines = files("generator.site").joinpath("refusals.csv").read_text("utf-8").splitlines()
    return {(path, code): message for path, code, message in csv.reader(lines[1:])}


class _Responses:
    def __init__(self, endpoint: Endpoint, prose: Prose):
        self._endpoint = endpoint
        self._prose = prose

    def by_status(self) -> Json:
        found = {"200": self._success("200")}
        if errors.RangeNotSatisfiable in self._endpoint.errors:
            found["206"] = self._success("206")
        found["304"] = {"description": self._text("304"), "headers": self._success_headers()}
        for error in errors_of(self._endpoint):
            same = [other for other in errors_of(self._endpoint) if other.status == error.status]
            found.setdefault(str(error.status), self._error(error, self._messages(same)))
        return found

    def _messages(self, of_status: list[type[errors.ApiError]]) -> dict[str, str]:
        """Return the recorded message of each error that a request can get, by its code."""
        said, path = recorded_messages(), self._endpoint.path
        codes = [error.code for error in of_status if error is not errors.InsufficientScope or self._endpoint.scope]
        found = {code: said.get((path, code)) or said.get(("", code)) for code in codes}
        return {code: message for code, message in found.items() if message}

    def _success(self, status: str) -> Json:
        schema = {"$ref": f"{REFERENCE}{self._endpoint.schema}"}
        as_file = {media_type: {"schema": _TEXT | {"format": "binary"}} for _, media_type in FORMATS.values()}
        return {
            "description": self._text(status),
            "headers": self._success_headers(partial=status == "206"),
            "content": {"application/json": {"schema": schema}} if self._endpoint.schema else as_file,
        }

    def _success_headers(self, partial: bool = False) -> Json:
        endpoint = self._endpoint
        constant = {**endpoint.extra_headers, "Cache-Control": endpoint.cache_control}
        schemas = _RATE if endpoint.sends_rate_limit else {}
        schemas = schemas | ({"X-Build": _TEXT} if endpoint.of_build else {})
        schemas = schemas | ({"X-Total-Count": _COUNT} if "offset" in endpoint.parameters else {})
        schemas = schemas | {"ETag": _TAG} | ({"Content-Range": _TEXT} if partial else {})
        schemas |= {name: _TEXT | {"const": value} for name, value in constant.items()}
        headers = {name: self._header(name, schema) for name, schema in schemas.items()} | self._hint()
        return headers | {"Vary": self._header("Vary", _TEXT, required=not endpoint.public, vary=endpoint.vary)}

    def _error(self, error: type[errors.ApiError], messages: dict[str, str]) -> Json:
        content: Json = {"schema": {"$ref": f"{REFERENCE}Error"}}
        if messages:
            content["examples"] = {
                code: {"value": {"error": {"code": code, "message": message}}} for code, message in messages.items()
            }
        no_store = self._header("Cache-Control of errors", _TEXT | {"const": "no-store"})
        return {
            "description": self._error_text(error),
            "headers": self._error_headers(error) | {"Cache-Control": no_store},
            "content": {"application/json": content},
        }

    def _error_text(self, error: type[errors.ApiError]) -> str:
        name = str(error.status)
        if error is errors.InsufficientScope and self._endpoint.scope is None:
            name += " without a scope"
        counted = "client address" if self._endpoint.public else "key"
        methods = " and ".join(self._endpoint.methods)
        return self._text(name, scope=self._endpoint.scope, counted=counted, methods=methods)

    def _error_headers(self, error: type[errors.ApiError]) -> Json:
        """Return the headers of an error. One is optional if the error can also come before the check that adds it."""
        wait = {"type": "integer", "minimum": 1, "maximum": WINDOW_SECONDS}
        allow = _TEXT | {"const": ", ".join(self._endpoint.methods)}
        if error.status == 401:
            return {"WWW-Authenticate": self._header("WWW-Authenticate", _TEXT | {"const": "Bearer"})}
        if error is errors.MethodNotAllowed:
            return {"Allow": self._header("Allow", allow)}
        if error is errors.InternalError:
            return self._rate(required=False) | {"Retry-After": self._header("Retry-After", _COUNT)}
        if error is errors.RateLimited:
            return self._rate() | self._build(required=False) | {"Retry-After": self._header("Retry-After", wait)}
        if error is errors.RangeNotSatisfiable:
            return self._rate() | {"Content-Range": self._header("Content-Range of 416", _TEXT)}
        # A path that is not UTF-8 is 404 before the key is read, and X-Build is read before the parameters.
        has_build = error in (errors.NotFound, errors.AmbiguousSlug, errors.InvalidParameter)
        build = self._build(required=error is errors.AmbiguousSlug) if has_build else {}
        hint = self._hint() if error is errors.NotFound else {}
        return self._rate(required=error is not errors.NotFound) | build | hint

    def _hint(self) -> Json:
        return {HINT: self._header(HINT, _TEXT, required=False)} if self._endpoint.hints else {}

    def _build(self, required: bool) -> Json:
        return {"X-Build": self._header("X-Build", _TEXT, required)} if self._endpoint.of_build else {}

    def _rate(self, required: bool = True) -> Json:
        return {name: self._header(name, schema, required) for name, schema in _RATE.items()}

    def _header(self, name: str, schema: Json, required: bool = True, **facts: object) -> Json:
        text = self._prose.sentence(self._endpoint.path, HEADERS, name, **facts).text
        return {"description": text, "required": required, "schema": schema}

    def _text(self, name: str, **facts: object) -> str:
        return self._prose.sentence(self._endpoint.path, STATUSES, name, **facts).text


def _parameters(endpoint: Endpoint, prose: Prose) -> list[Json]:
    """Return the parameters of an endpoint: those of the path, of the query, and headers."""
    subject = schema_of(endpoint.subject) if endpoint.subject else _TEXT | {"minLength": 1}
    headers = ["If-Match", "Range", "If-Range"] if errors.RangeNotSatisfiable in endpoint.errors else []
    headers += ["X-Build"] if endpoint.of_build else []
    found = [("path", name, subject) for name in endpoint.subjects]
    found += [("query", name, schema_of(one.rule, one.default)) for name, one in endpoint.parameters.items()]
    found += [("header", name, _TEXT) for name in (*headers, "If-None-Match")]
    return [_parameter(endpoint, prose, *one) for one in found]


def schema_of(rule: Rule[Any], default: object = None) -> Json:
    """Return the JSON Schema of the values that a rule allows."""
    match rule:
        case Integer():
            schema: Json = {"type": "integer", "minimum": rule.low, "maximum": rule.high or 10**MAX_DIGITS - 1}
        case ProductId():
            schema = {"type": "integer", "format": "int64"}
        case Choice():
            schema = {"type": "string", "enum": list(rule.values)}
        case Text():
            schema = {"type": "string"} | ({"minLength": 1} if rule.refuses_empty else {})
            schema |= {"maxLength": rule.max_characters}
        case Price():
            schema = {"type": "number", "minimum": 0, "maximum": 10**MAX_DIGITS - 1}
        case IdList():
            one = f"-?[0-9]{{1,{MAX_DIGITS}}}"
            schema = {"type": "string", "pattern": f"^{one}(,{one}){{0,{rule.most - 1}}}$"}
        case TextList():
            one = f"[^,]{{1,{rule.max_characters}}}"
            schema = {"type": "string", "pattern": f"^{one}(,{one}){{0,{rule.most - 1}}}$"}
        case NameList():
            schema = {"type": "string", "pattern": _names_pattern(rule)}
        case BuildId():
            schema = {"type": "string", "minLength": 1}
        case _:
            raise TypeError(f"{type(rule).__name__} has no schema: add it here")
    return schema if default is None else schema | {"default": default}


def _names_pattern(rule: NameList) -> str:
    """Return the pattern of names, one a line, with any blanks around them and any empty lines between them."""
    blanks, name = r"[^\S\n]*", rf"\S(?:[^\n]{{0,{rule.max_characters - 2}}}\S)?"
    lines = rf"(?:{blanks}\n)*{blanks}{name}{blanks}"
    return rf"^{lines}(?:\n{lines}){{0,{rule.most - 1}}}(?:\n{blanks})*$"


def _parameter(endpoint: Endpoint, prose: Prose, place: str, name: str, schema: Json) -> Json:
    text, example = prose.sentence(endpoint.path, PARAMETERS, name, **schema)
    described = {
        "name": name,
        "in": place,
        "required": place == "path" or (place == "query" and endpoint.parameters[name].required),
        "description": text,
        "schema": schema,
    }
    return described | ({"example": _typed(example, schema)} if example else {})


def _typed(example: str, schema: Json) -> object:
    return json.loads(example) if schema["type"] in ("integer", "number") else example


def open_schemas(document: Json) -> Json:
    """Return a document whose schemas allow further fields, and whose nested objects are schemas of their own."""
    opened: Json = _open(document)
    schemas: Json = opened["components"]["schemas"]
    for name in list(schemas):
        _name_objects(schemas, name)
    return opened


def _open(value: Any) -> Any:
    """Return JSON without the member `additionalProperties: false` in any object."""
    if isinstance(value, dict):
        closed = value.get("additionalProperties") is False
        return {key: _open(member) for key, member in value.items() if not (closed and key == "additionalProperties")}
    return [_open(item) for item in value] if isinstance(value, list) else value


def _name_objects(schemas: Json, name: str) -> None:
    """Move the objects in a schema's properties to schemas of their own: `build` of Status becomes StatusBuild."""
    properties: Json = schemas[name].get("properties", {})
    for field, schema in list(properties.items()):
        if "properties" not in schema:
            continue
        own = name + "".join(word.capitalize() for word in field.split("_"))
        schemas[own] = schema
        properties[field] = {"$ref": REFERENCE + own}
        _name_objects(schemas, own)


_SECURITY_SCHEMES = {
    "bearerAuth": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "cpm_live_ and 32 letters and digits",
        "description": "`Authorization: Bearer <API_KEY>`. Read before `X-API-Key`.",
    },
    "apiKeyAuth": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "`X-API-Key: <API_KEY>`. Read when no Bearer key is sent.",
    },
}
# What `info` says about the operator: the variable that sets it, and the neutral default.
_OPERATOR = {
    "contact_name": ("CARDPRESS_API_CONTACT_NAME", "The operator of this service"),
    "contact_url": ("CARDPRESS_API_CONTACT_URL", ""),
    "license_name": ("CARDPRESS_API_LICENSE_NAME", "As agreed with the operator of this service"),
    "license_url": ("CARDPRESS_API_LICENSE_URL", ""),
}


def document(examples: Mapping[tuple[str, str], str] | None = None) -> bytes:
    """Return the published OpenAPI 3.1.0 document as canonical JSON: compact, UTF-8, one line.

    Its schemas are open: an answer may have more fields, so a client that was generated from it survives a new one.

    Args:
        examples: The examples of parameters by operation and name, in place of the invented ones. Together, those of an
            operation are a request that can be answered.
    """
    opened = open_schemas(json.loads(strict_document()))
    if examples is None:
        return _canonical(opened)
    for operation in (item["get"] for item in opened["paths"].values()):
        for parameter in operation["parameters"]:
            parameter.pop("example", None)
            if (value := examples.get((operation["operationId"], parameter["name"]))) is not None:
                parameter["example"] = _typed(value, parameter["schema"])
    return _canonical(opened)


def strict_document() -> bytes:
    """Return the document with schemas that allow only the fields of today. Tests and the reference use it."""
    return _strict_document(tuple((name, os.environ.get(key) or text) for name, (key, text) in _OPERATOR.items()))


@lru_cache(1)
def _strict_document(operator: tuple[tuple[str, str], ...]) -> bytes:
    prose = Prose()
    made = {
        "openapi": "3.1.0",
        "info": _info(dict(operator)),
        "servers": [{"url": "/", "description": "The host that serves this description"}],
        "security": [{name: []} for name in _SECURITY_SCHEMES],
        "tags": [{"name": name, "description": text} for name, text in prose.texts(TAGS).items()],
        "paths": {endpoint.path: {"get": _operation(endpoint, prose)} for endpoint in ENDPOINTS},
        "components": {"securitySchemes": _SECURITY_SCHEMES, "schemas": schemas()},
    }
    return _canonical(made)


def _info(operator: Mapping[str, str]) -> Json:
    contact = {"name": operator["contact_name"], "url": operator["contact_url"]}
    where = {"url": operator["license_url"]} if operator["license_url"] else {"identifier": "LicenseRef-operator"}
    return {
        "title": "Card price monitor API",
        "version": "1.0.0",
        "summary": "Prices, catalogue, sets, watchlist and image fingerprints of a card marketplace, read-only",
        "description": guide(),
        "contact": {name: value for name, value in contact.items() if value},
        "license": {"name": operator["license_name"], **where},
    }


def _operation(endpoint: Endpoint, prose: Prose) -> Json:
    section = prose.section(endpoint.path)
    scope = f" Scope: `{endpoint.scope}`." if endpoint.scope else " Needs no scope."
    return {
        "operationId": endpoint.id,
        "tags": [endpoint.tag],
        "summary": section.title,
        "description": section.text + ("" if endpoint.public else scope),
        **({"security": []} if endpoint.public else {}),
        "parameters": _parameters(endpoint, prose),
        "responses": _Responses(endpoint, prose).by_status(),
    }


def _canonical(parsed: object) -> bytes:
    return json.dumps(parsed, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


@cache
def guide() -> str:
    """Return the guide as Markdown. Its highest headings have level 2."""
    found = _GUIDE.search(packaged("docs/api.md").read_text("utf-8"))
    assert found, "docs/api.md has a guide before its endpoints"
    return found[1].rstrip("\n")


def guide_sections() -> list[tuple[str, str, str]]:
    """Return the anchor, the heading and the text of each section of the guide."""
    parts = (part.partition("\n") for part in guide().split("\n## ")[1:])
    return [(anchor(heading), heading, text.strip()) for heading, _, text in parts]


def anchor(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
