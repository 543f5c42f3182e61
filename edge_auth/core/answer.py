"""The heart of the shim: from a request and the time to an answer, free of any framework.

The order of checks is the contract's: method, path, key, rate limit, scope, parameters, look-up.
"""

from functools import lru_cache
from typing import Protocol

from edge_auth.contract.keys import DEFAULT_RATE_LIMIT, KeyRecord
from edge_auth.core.authentication import Keys, authenticate
from edge_auth.core.bodies import JSON, Body, accepts_gzip, dumps
from edge_auth.core.endpoints import OPEN_TO_BROWSERS, Endpoint, route
from edge_auth.core.open_build import OpenBuild
from edge_auth.core.parameters import shown
from edge_auth.core.rate_limit import Counter
from edge_auth.core.request import Answer, Request, ResponseContext
from edge_auth.errors import (
    AccessDenied,
    ApiError,
    InsufficientScope,
    InternalError,
    InvalidParameter,
    MethodNotAllowed,
    MissingObject,
    RateLimited,
    UnknownBuild,
)

RETRY_SECONDS = "5"
_PREFLIGHT = {
    **OPEN_TO_BROWSERS,
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "Authorization, X-API-Key, If-None-Match, X-Build",
    "Access-Control-Max-Age": "7200",
}
_OF_CONTENT = ("Content-Length", "Content-Encoding")


class Builds(Protocol):
    """The builds that requests are answered from."""

    def opened(self, pin: str | None = None) -> OpenBuild:
        """Return the live build, or the one that a request names in X-Build.

        Raises:
            UnknownBuild: The store does not keep it.
            StoreError: It cannot be read.
        """
        ...

    def has_moved_on(self, from_: OpenBuild, pin: str | None) -> bool:
        """Look at the store again. Return whether a request answered from `from_` would now get another build."""
        ...


class FailureLog(Protocol):
    """Where the reason for a 500 is written."""

    def failure(self, request: Request, error: BaseException) -> None:
        """Log why a request got a 500."""
        ...


class Shim:
    """Answers requests from the builds of a store."""

    def __init__(self, builds: Builds, keys: Keys, counter: Counter, log: FailureLog):
        self._builds = builds
        self._keys = keys
        self._counter = counter
        self._log = log

    def answer(self, request: Request, now: float) -> Answer:
        """The answer to a request at `now` (Unix time). Never raises: what fails is a 500."""
        carried = ResponseContext()
        answer = self._answer_or_refusal(request, now, carried)
        answer.key_id, answer.endpoint = carried.key_id, carried.endpoint
        return answer

    def _answer_or_refusal(self, request: Request, now: float, carried: ResponseContext) -> Answer:
        try:
            return self._answer(request, now, carried)
        except ApiError as error:
            return _refusal(error, carried)
        except Exception as error:
            self._log.failure(request, error)
            carried.headers.pop("X-Build", None)
            return _refusal(InternalError("something failed here; try again later", Retry_After=RETRY_SECONDS), carried)

    def _answer(self, request: Request, now: float, carried: ResponseContext) -> Answer:
        if request.method != "GET":
            return _no_get(request)
        endpoint, subject = route(request.path)
        carried.endpoint = endpoint.path
        record = None if endpoint.public else authenticate(self._keys, request.headers, now)
        if record is None:
            if endpoint.limited:
                self._limit(f"address {request.client}", DEFAULT_RATE_LIMIT, now, carried)
        else:
            carried.key_id = record.id
            self._limit(f"key {record.id}", record.rate_limit, now, carried)
            if endpoint.scope is not None and endpoint.scope not in record.scopes:
                raise InsufficientScope(f"this key may not read this: it lacks the scope {endpoint.scope}")
        if endpoint.body is None:
            endpoint.parameters(subject, request.query)
            return _success(endpoint, _of_key(record), request, carried)
        return self._from_build(endpoint, subject, request, carried)

    def _limit(self, name: str, limit: int, now: float, carried: ResponseContext) -> None:
        usage = self._counter.hit(name, limit, now)
        carried.headers.update(usage.headers())
        if not usage.allowed:
            wait = max(1, usage.reset - int(now))
            raise RateLimited(
                f"over the limit of {limit} requests per minute: wait {wait} seconds", Retry_After=str(wait)
            )

    def _from_build(self, endpoint: Endpoint, subject: str, request: Request, carried: ResponseContext) -> Answer:
        """Answer from one build; anew from its successor if it was pruned under our hands."""
        pin = request.headers.get("x-build")
        opened = self._opened(pin)
        try:
            return _read(opened, endpoint, subject, request, carried)
        except (MissingObject, AccessDenied):  # as it is with what was pruned
            if not self._builds.has_moved_on(opened, pin):
                raise
        del carried.headers["X-Build"]
        return _read(self._opened(pin), endpoint, subject, request, carried)

    def _opened(self, pin: str | None) -> OpenBuild:
        try:
            return self._builds.opened(pin)
        except UnknownBuild:
            live = self._builds.opened().build.id
            raise InvalidParameter(f"X-Build {shown(pin or '')} is not kept here; the live build is {live}") from None


def _read(opened: OpenBuild, endpoint: Endpoint, subject: str, request: Request, carried: ResponseContext) -> Answer:
    carried.headers["X-Build"] = opened.build.id
    path, query = request.path, request.query
    body = opened.body(path, query, lambda: endpoint.body(opened, subject, endpoint.parameters(subject, query)))
    return _success(endpoint, body, request, carried)


@lru_cache(1024)
def _of_key(record: KeyRecord) -> Body:
    return Body.made(dumps(record.public()) + b"\n")


def _success(endpoint: Endpoint, body: Body, request: Request, carried: ResponseContext) -> Answer:
    """200 with the body in the encoding that the client takes, or 304 where it has it already."""
    headers = request.headers
    gzip = accepts_gzip(headers.get("accept-encoding", ""))
    known = "if-none-match" in headers and body.matches(headers["if-none-match"])
    content = b"" if known else body.gzipped if gzip else body.plain
    sent = {**endpoint.headers, **body.headers(gzip), **carried.headers}
    if not endpoint.rate_headers:
        sent = {name: value for name, value in sent.items() if not name.startswith("X-RateLimit-")}
    if known:
        sent = {name: value for name, value in sent.items() if name not in _OF_CONTENT}
    return Answer(304 if known else 200, sent, content)


def _refusal(error: ApiError, carried: ResponseContext) -> Answer:
    body = dumps({"error": {"code": error.code, "message": str(error)}}) + b"\n"
    headers = {**OPEN_TO_BROWSERS, **carried.headers, **error.headers, "Cache-Control": "no-store"}
    headers["Content-Type"] = JSON
    headers["Content-Length"] = str(len(body))
    return Answer(error.status, headers, body)


def _no_get(request: Request) -> Answer:
    """The preflight of a browser is answered; every other method is refused."""
    asks = "origin" in request.headers and "access-control-request-method" in request.headers
    if request.method == "OPTIONS" and asks:
        return Answer(204, dict(_PREFLIGHT))
    raise MethodNotAllowed(f"{shown(request.method)} is not allowed: every operation is GET", Allow="GET")
