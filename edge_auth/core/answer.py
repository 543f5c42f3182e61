"""The answer to a request: the checks in the order of the contract, then the body.

The order is: method, path, key, rate limit, scope, parameters, look-up.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache, partial
from typing import Protocol

from edge_auth.contract.keys import DEFAULT_RATE_LIMIT, KeyRecord
from edge_auth.core import bulk
from edge_auth.core.authentication import Keys, authenticate
from edge_auth.core.bodies import JSON, Body, accepts_gzip, dumps
from edge_auth.core.changes import StepLog
from edge_auth.core.endpoints import COMMON_HEADERS, Endpoint, route
from edge_auth.core.open_build import OpenBuild
from edge_auth.core.parameters import quote_input
from edge_auth.core.rate_limit import Counter, address_name, key_name
from edge_auth.core.request import Answer, Request, ResponseContext
from edge_auth.errors import (
    AccessDenied,
    ApiError,
    InsufficientScope,
    InternalError,
    InvalidParameter,
    MethodNotAllowed,
    MissingObject,
    NoLiveBuild,
    NotFound,
    RateLimited,
    StoreError,
    UnknownBuild,
)

RETRY_AFTER_SECONDS = 5
_PREFLIGHT_HEADERS = {
    **COMMON_HEADERS,
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "Authorization, X-API-Key, If-None-Match, X-Build, X-Request-ID, Range, If-Range, "
    "Cache-Control, Content-Type",
    "Access-Control-Max-Age": "7200",
}
_CONTENT_HEADERS = ("Content-Length", "Content-Encoding")


class Builds(Protocol):
    """The builds that requests are answered from, and the steps from one to another."""

    @property
    def steps(self) -> StepLog:
        """The steps of the store."""
        ...

    def select(self, pin: str | None = None) -> OpenBuild:
        """Return the live build, or the one that a request names in X-Build.

        Raises:
            UnknownBuild: The store does not hold it.
            NoLiveBuild: No build was ever published.
            StoreError: It cannot be read.
        """
        ...

    def has_changed(self, build: OpenBuild, pin: str | None) -> bool:
        """Read the pointer again. Return whether a request answered from `build` would now get another build."""
        ...


class FailureLog(Protocol):
    """A log for the causes of 500."""

    def once(self, text: str) -> None:
        """Log a message, unless it was logged here already."""
        ...

    def failure(self, request: Request, error: BaseException) -> None:
        """Log why a request got 500."""
        ...


class Shim:
    """Answers requests from the builds of a store.

    Args:
        waiting: Returns the context of slow work, in which other requests run if requests take turns.
    """

    def __init__(
        self,
        builds: Builds,
        keys: Keys,
        counter: Counter,
        log: FailureLog,
        files: bulk.BulkFiles,
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ):
        self._builds = builds
        self._files = files
        self._keys = keys
        self._counter = counter
        self._log = log
        self._waiting = waiting

    def answer(self, request: Request, now: float) -> Answer:
        """Return the answer to a request at `now` (Unix time). Never raises: failures become 500."""
        context = ResponseContext()
        answer = self._answer_or_error(request, now, context)
        answer.key_id, answer.endpoint = context.key_id, context.endpoint
        answer.shared_scope = context.shared_scope
        return answer

    def _answer_or_error(self, request: Request, now: float, context: ResponseContext) -> Answer:
        try:
            return self._answer(request, now, context)
        except ApiError as error:
            return _error_answer(error, context)
        except NoLiveBuild as error:
            self._log.once(f"requests get 500 until a build is live: {error}")
            return _failure("no build has been published here yet; try again later", context)
        except Exception as error:
            self._log.failure(request, error)
            context.headers.pop("X-Build", None)
            return _failure("something failed here; try again later", context)

    def _answer(self, request: Request, now: float, context: ResponseContext) -> Answer:
        if request.method != "GET" and (other := _answer_other_method(request)) is not None:
            return other
        endpoint, subject = route(request.path)
        if endpoint.by_accept is not None:
            subject = endpoint.by_accept(request.headers.get("accept", ""))
        context.endpoint, context.shared_scope = endpoint.path, endpoint.shared_scope
        record = None if endpoint.public else authenticate(self._keys, request.headers, now)
        if record is None:
            if endpoint.rate_limited:
                self._count(address_name(request.client), DEFAULT_RATE_LIMIT, now, context)
        else:
            context.key_id = record.id
            self._count_keyed(endpoint, record, now, context)
            if endpoint.scope is not None and endpoint.scope not in record.scopes:
                raise InsufficientScope(f"this key may not read this: it lacks the scope {endpoint.scope}")
            if endpoint.steps_body is not None:
                values = endpoint.parameters(subject, request.query)
                return self._success(
                    endpoint, endpoint.steps_body(self._builds.steps, subject, values), request, context
                )
            if endpoint.bulk_file:
                endpoint.parameters(subject, request.query)
                headers = {**endpoint.headers, **context.headers}
                return bulk.file_answer(self._files, subject, request, headers, record.id)
            if endpoint.body is None:
                endpoint.parameters(subject, request.query)
                return self._success(endpoint, _key_body(record), request, context)
        return self._answer_from_build(endpoint, subject, request, context)

    def _count_keyed(self, endpoint: Endpoint, record: KeyRecord, now: float, context: ResponseContext) -> None:
        if endpoint.bulk_file:
            self._count(bulk.limit_name(record.id), record.rate_limit * bulk.LIMIT_FACTOR, now, context)
        else:
            self._count(key_name(record.id), record.rate_limit, now, context)

    def _count(self, name: str, limit: int, now: float, context: ResponseContext) -> None:
        usage = self._counter.hit(name, limit, now)
        context.headers.update(usage.headers())
        if not usage.allowed:
            wait = max(1, usage.reset - int(now))
            raise RateLimited(
                f"over the limit of {limit} requests per minute: wait {wait} seconds", Retry_After=str(wait)
            )

    def _answer_from_build(
        self, endpoint: Endpoint, subject: str, request: Request, context: ResponseContext
    ) -> Answer:
        """Answer from one build. If it was pruned meanwhile, answer from the build that is live then."""
        pin = None if endpoint.page else request.headers.get("x-build") or None
        build = self._select_build(pin)
        try:
            return self._read(build, endpoint, subject, request, context)
        except (MissingObject, AccessDenied):  # the errors for objects of a pruned build
            if not self._builds.has_changed(build, pin):
                raise
        del context.headers["X-Build"]
        return self._read(self._select_build(pin), endpoint, subject, request, context)

    def _select_build(self, pin: str | None) -> OpenBuild:
        try:
            return self._builds.select(pin)
        except UnknownBuild:
            live = self._builds.select().id
            raise InvalidParameter(
                f"X-Build {quote_input(pin or '')} is not kept here; the live build is {live}"
            ) from None

    def _read(
        self, build: OpenBuild, endpoint: Endpoint, subject: str, request: Request, context: ResponseContext
    ) -> Answer:
        context.headers["X-Build"] = build.id
        make_body = partial(endpoint.make_body, build, subject, request.query)
        path = request.path if endpoint.by_accept is None else f"/{subject}".encode()  # each form is cached
        return self._success(endpoint, build.cached_body(path, request.query, make_body), request, context)

    def _success(self, endpoint: Endpoint, body: Body, request: Request, context: ResponseContext) -> Answer:
        """Return 200 with the body in an encoding that the client accepts, or 304 if the client has it already."""
        request_headers = request.headers
        gzip = accepts_gzip(request_headers.get("accept-encoding", ""))
        not_modified = "if-none-match" in request_headers and body.matches(request_headers["if-none-match"])
        headers = {**endpoint.headers, **body.headers(gzip), **context.headers}
        if not endpoint.sends_rate_limit:
            headers = {name: value for name, value in headers.items() if not name.startswith("X-RateLimit-")}
        if not_modified:
            headers = {name: value for name, value in headers.items() if name not in _CONTENT_HEADERS}
            return Answer(304, headers)
        if gzip:
            return Answer(200, headers, body.gzipped)
        return self._plain(body, headers, context.key_id or "")

    def _plain(self, body: Body, headers: dict[str, str], key_id: str) -> Answer:
        """Return 200 with the plain content: from its local file, or inflated if that is gone or too many read it."""
        if body.file is not None:
            with suppress(StoreError):
                return Answer(200, headers, stream=self._files.stream_local(body.file, body.size, key_id))
        return Answer(200, headers, body.inflated(self._waiting))


@lru_cache(1024)
def _key_body(record: KeyRecord) -> Body:
    return Body.from_json(dumps(record.public()) + b"\n")


def bad_request(message: str) -> Answer:
    """Return 400 for a request that breaks the rules of HTTP."""
    return _error_answer(InvalidParameter(message), ResponseContext())


def _error_answer(error: ApiError, context: ResponseContext) -> Answer:
    body = dumps({"error": {"code": error.code, "message": str(error)}}) + b"\n"
    headers = {**COMMON_HEADERS, **context.headers, **error.headers, "Cache-Control": "no-store"}
    headers["Content-Type"] = JSON
    headers["Content-Length"] = str(len(body))
    return Answer(error.status, headers, body)


def _failure(message: str, context: ResponseContext) -> Answer:
    return _error_answer(InternalError(message, Retry_After=str(RETRY_AFTER_SECONDS)), context)


def _answer_other_method(request: Request) -> Answer | None:
    """Answer the preflight request of a browser, refuse a method, or return None if the path allows the method.

    Raises:
        MethodNotAllowed: The path does not allow the method, and the request is no preflight of an API path.
    """
    endpoint = _endpoint(request.path)
    allowed, is_page = (endpoint.methods, endpoint.page) if endpoint else (("GET",), False)
    if request.method in allowed:
        return None
    is_preflight = "origin" in request.headers and "access-control-request-method" in request.headers
    if request.method == "OPTIONS" and is_preflight and not is_page:
        return Answer(204, dict(_PREFLIGHT_HEADERS))
    why = "every operation is GET" if allowed == ("GET",) else f"this path answers {' and '.join(allowed)}"
    raise MethodNotAllowed(f"{quote_input(request.method)} is not allowed: {why}", Allow=", ".join(allowed))


def _endpoint(path: bytes) -> Endpoint | None:
    """Return the endpoint of a path, or None if there is no such path."""
    try:
        return route(path)[0]
    except NotFound:
        return None
