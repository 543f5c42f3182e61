"""Makes the responses of the OpenAPI document: what each endpoint answers, and with which headers."""

import csv
from functools import cache
from importlib.resources import files
from typing import Any

from edge_auth.api.endpoints import Endpoint
from edge_auth.builds.bulk import FORMATS
from edge_auth.errors import (
    AmbiguousSlug,
    ApiError,
    ExpiredKey,
    InsufficientScope,
    InternalError,
    InvalidKey,
    InvalidParameter,
    KeyRefused,
    MethodNotAllowed,
    NoKey,
    NotFound,
    RangeNotSatisfiable,
    RateLimited,
    RevokedKey,
)
from edge_auth.live.counter import WINDOW_SECONDS
from generator.site.prose import HEADERS, STATUSES, Prose

_Json = dict[str, Any]
_TEXT: _Json = {"type": "string"}
_COUNT: _Json = {"type": "integer", "minimum": 0}
_TAG = {"type": "string", "pattern": '^"[^"]+"$'}
_RATE: _Json = {
    "X-RateLimit-Limit": {"type": "integer", "minimum": 1},
    "X-RateLimit-Remaining": _COUNT,
    "X-RateLimit-Reset": {"type": "integer"},
}
_KEY_ERRORS = (NoKey, InvalidKey, ExpiredKey, RevokedKey)


def responses(endpoint: Endpoint, prose: Prose) -> _Json:
    """Return the responses of an endpoint by their status.

    Raises:
        SiteError: A response or a header has no row.
    """
    return _Responses(endpoint, prose).all()


def errors(endpoint: Endpoint) -> list[type[ApiError]]:
    """Return the errors that an endpoint can return: those of its look-up, and those of the checks before it."""
    of_keys = () if endpoint.public else (*_KEY_ERRORS, InsufficientScope)
    return [InvalidParameter, *endpoint.errors, *of_keys, RateLimited, MethodNotAllowed, InternalError]


@cache
def recorded_messages() -> dict[tuple[str, str], str]:
    """Return what the shim says to refused requests, by path and code; the path '' stands for all other paths.

    `make golden` records the rows of `refusals.csv` from a running shim.
    """
    lines = files("generator.site").joinpath("refusals.csv").read_text("utf-8").splitlines()
    return {(path, code): message for path, code, message in csv.reader(lines[1:])}


class _Responses:
    """The responses of one endpoint."""

    def __init__(self, endpoint: Endpoint, prose: Prose):
        self._endpoint = endpoint
        self._prose = prose

    def all(self) -> _Json:
        found = {"200": self._success("200")}
        if RangeNotSatisfiable in self._endpoint.errors:
            found["206"] = self._success("206")
        found["304"] = {"description": self._text("304"), "headers": self._success_headers()}
        for error in errors(self._endpoint):
            same = [other for other in errors(self._endpoint) if other.status == error.status]
            found.setdefault(str(error.status), self._error(error, self._messages(same)))
        return found

    def _messages(self, of_status: list[type[ApiError]]) -> dict[str, str]:
        """Return the recorded message of each error that a request can get, by its code."""
        said, path = recorded_messages(), self._endpoint.path
        codes = [error.code for error in of_status if error is not InsufficientScope or self._endpoint.scope]
        found = {code: said.get((path, code)) or said.get(("", code)) for code in codes}
        return {code: message for code, message in found.items() if message}

    def _success(self, status: str) -> _Json:
        schema = {"$ref": f"#/components/schemas/{self._endpoint.schema}"}
        as_file = {media_type: {"schema": _TEXT | {"format": "binary"}} for _, media_type in FORMATS.values()}
        return {
            "description": self._text(status),
            "headers": self._success_headers(partial=status == "206"),
            "content": {"application/json": {"schema": schema}} if self._endpoint.schema else as_file,
        }

    def _success_headers(self, partial: bool = False) -> _Json:
        endpoint = self._endpoint
        constant = {**endpoint.extra_headers, "Cache-Control": endpoint.cache_control}
        schemas = _RATE if endpoint.sends_rate_limit else {}
        schemas = schemas | ({"X-Build": _TEXT} if endpoint.of_build else {})
        schemas = schemas | ({"X-Total-Count": _COUNT} if "offset" in (endpoint.rules or ()) else {})
        schemas = schemas | {"ETag": _TAG} | ({"Content-Range": _TEXT} if partial else {})
        schemas |= {name: _TEXT | {"const": value} for name, value in constant.items()}
        headers = {name: self._header(name, schema) for name, schema in schemas.items()}
        return headers | {"Vary": self._header("Vary", _TEXT, required=not endpoint.public, vary=endpoint.vary)}

    def _error(self, error: type[ApiError], messages: dict[str, str]) -> _Json:
        content: _Json = {"schema": {"$ref": "#/components/schemas/Error"}}
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

    def _error_text(self, error: type[ApiError]) -> str:
        name = str(error.status)
        if error is InsufficientScope and self._endpoint.scope is None:
            name += " without a scope"
        counted = "client address" if self._endpoint.public else "key"
        methods = " and ".join(self._endpoint.methods)
        return self._text(name, scope=self._endpoint.scope, counted=counted, methods=methods)

    def _error_headers(self, error: type[ApiError]) -> _Json:
        """Return the headers of an error. One is optional if the error can also come before the check that adds it."""
        wait = {"type": "integer", "minimum": 1, "maximum": WINDOW_SECONDS}
        allow = _TEXT | {"const": ", ".join(self._endpoint.methods)}
        if issubclass(error, KeyRefused):
            return {"WWW-Authenticate": self._header("WWW-Authenticate", _TEXT | {"const": "Bearer"})}
        if error is MethodNotAllowed:
            return {"Allow": self._header("Allow", allow)}
        if error is InternalError:
            return self._rate(required=False) | {"Retry-After": self._header("Retry-After", _COUNT)}
        if error is RateLimited:
            return self._rate() | {"Retry-After": self._header("Retry-After", wait)}
        if error is RangeNotSatisfiable:
            return self._rate() | {"Content-Range": self._header("Content-Range of 416", _TEXT)}
        # A path that is not UTF-8 is 404 before the key is read.
        required = error is not NotFound
        of_build = error in (NotFound, AmbiguousSlug) and self._endpoint.of_build
        return self._rate(required) | ({"X-Build": self._header("X-Build", _TEXT, required)} if of_build else {})

    def _rate(self, required: bool = True) -> _Json:
        return {name: self._header(name, schema, required) for name, schema in _RATE.items()}

    def _header(self, name: str, schema: _Json, required: bool = True, **facts: object) -> _Json:
        text = self._prose.sentence(self._endpoint.path, HEADERS, name, **facts).text
        return {"description": text, "required": required, "schema": schema}

    def _text(self, name: str, **facts: object) -> str:
        return self._prose.sentence(self._endpoint.path, STATUSES, name, **facts).text
