"""The heart of the shim: from a request and the time to an answer, free of any framework.

The order of checks is the contract's: method, path, key, rate limit, scope, parameters, look-up.
"""

from functools import lru_cache

from edge_auth.bodies import JSON, Body, accepts_gzip, dumps
from edge_auth.contract.keys import DEFAULT_RATE_LIMIT, KeyRecord
from edge_auth.endpoints import OPEN_TO_BROWSERS, Endpoint, route
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
from edge_auth.keyring import Keyring
from edge_auth.library import Library, Opened
from edge_auth.log import Log
from edge_auth.params import shown
from edge_auth.ratelimit import Counter
from edge_auth.request import Answer, Carried, Request

RETRY_SECONDS = "5"
_PREFLIGHT = {
    **OPEN_TO_BROWSERS,
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "Authorization, X-API-Key, If-None-Match, X-Build",
    "Access-Control-Max-Age": "7200",
}
_OF_CONTENT = ("Content-Length", "Content-Encoding")


class Shim:
    """Answers requests from the builds of a store."""

    def __init__(self, library: Library, keyring: Keyring, counter: Counter, log: Log):
        self._library = library
        self._keyring = keyring
        self._counter = counter
        self._log = log

    def answer(self, request: Request, now: float) -> Answer:
        """The answer to a request at `now` (Unix time). Never raises: what fails is a 500."""
        carried = Carried()
        answer = self._answer_or_refusal(request, now, carried)
        answer.key_id, answer.endpoint = carried.key_id, carried.endpoint
        return answer

    def ready(self) -> str:
        """Id of the live build, once builds and keys can be read. Raises EdgeError where they cannot."""
        self._keyring.records()
        opened = self._library.opened()
        opened.catalogue.rows  # noqa: B018  (opened now rather than by the first search)
        return opened.build.id

    def _answer_or_refusal(self, request: Request, now: float, carried: Carried) -> Answer:
        try:
            return self._answer(request, now, carried)
        except ApiError as error:
            return _refusal(error, carried)
        except Exception as error:
            self._log.failure(request, error)
            carried.headers.pop("X-Build", None)
            return _refusal(InternalError("something failed here; try again later", Retry_After=RETRY_SECONDS), carried)

    def _answer(self, request: Request, now: float, carried: Carried) -> Answer:
        if request.method != "GET":
            return _no_get(request)
        endpoint, subject = route(request.path)
        carried.endpoint = endpoint.path
        record = None if endpoint.public else self._keyring.holder(request.headers, now)
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

    def _limit(self, name: str, limit: int, now: float, carried: Carried) -> None:
        usage = self._counter.hit(name, limit, now)
        carried.headers.update(usage.headers())
        if not usage.allowed:
            wait = max(1, usage.reset - int(now))
            raise RateLimited(
                f"over the limit of {limit} requests per minute: wait {wait} seconds", Retry_After=str(wait)
            )

    def _from_build(self, endpoint: Endpoint, subject: str, request: Request, carried: Carried) -> Answer:
        """Answer from one build; anew from its successor if it was pruned under our hands."""
        pin = request.headers.get("x-build")
        opened = self._opened(pin)
        try:
            return _read(opened, endpoint, subject, request, carried)
        except (MissingObject, AccessDenied):  # as it is with what was pruned
            if not self._library.has_moved_on(opened, pin):
                raise
        del carried.headers["X-Build"]
        return _read(self._opened(pin), endpoint, subject, request, carried)

    def _opened(self, pin: str | None) -> Opened:
        try:
            return self._library.opened(pin)
        except UnknownBuild:
            live = self._library.opened().build.id
            raise InvalidParameter(f"X-Build {shown(pin or '')} is not kept here; the live build is {live}") from None


def _read(opened: Opened, endpoint: Endpoint, subject: str, request: Request, carried: Carried) -> Answer:
    carried.headers["X-Build"] = opened.build.id
    path, query = request.path, request.query
    body = opened.body(path, query, lambda: endpoint.body(opened, subject, endpoint.parameters(subject, query)))
    return _success(endpoint, body, request, carried)


@lru_cache(1024)
def _of_key(record: KeyRecord) -> Body:
    return Body.made(dumps(record.public()) + b"\n")


def _success(endpoint: Endpoint, body: Body, request: Request, carried: Carried) -> Answer:
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


def _refusal(error: ApiError, carried: Carried) -> Answer:
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
