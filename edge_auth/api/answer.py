"""The answer to a request: the checks in the order of the contract, then the body.

The order is: method, path, key, rate limit, scope, parameters, look-up.
"""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Protocol

from edge_auth.api import views as contents
from edge_auth.api.accept import prefers
from edge_auth.api.access import Keys, authenticate
from edge_auth.api.bulk import BulkFiles
from edge_auth.api.endpoint import API, COMMON_HEADERS, Asked, Builds, Endpoint, Stock
from edge_auth.api.parameters import quote_input
from edge_auth.api.routes import SITE_HEADERS, route
from edge_auth.builds import site_files
from edge_auth.builds.bodies import JSON, accepts_gzip, dumps
from edge_auth.errors import (
    ApiError,
    InsufficientScope,
    InternalError,
    InvalidParameter,
    MethodNotAllowed,
    NoLiveBuild,
    NotFound,
    RateLimited,
    StoreError,
)
from edge_auth.live.keys import DEFAULT_RATE_LIMIT, KeyRecord
from edge_auth.live.rate_limit import Counter, address_name
from edge_auth.live.request import Answer, Request, ResponseContext

_Admit = Callable[[Endpoint], KeyRecord | None]  # checks key, limit and scope of a request
RETRY_AFTER_SECONDS = 5
_OF_API = re.compile(rb"/api(?:/|$)")
_PREFLIGHT_HEADERS = {
    **COMMON_HEADERS,
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "Authorization, X-API-Key, If-None-Match, X-Build, X-Request-ID, Range, If-Range, "
    "Cache-Control, Content-Type",
    "Access-Control-Max-Age": "7200",
}


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
        files: BulkFiles,
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ):
        self._stock = Stock(builds, files, waiting)
        self._keys = keys
        self._counter = counter
        self._log = log

    def answer(self, request: Request, now: float, *, for_cache: bool = False) -> Answer:
        """Return the answer to a request at `now` (Unix time). Never raises: failures become 500.

        Args:
            for_cache: Whether a cache asks that checks keys and counts itself. It gets what all keys with a scope get.
        """
        context = ResponseContext()
        admit = _admit_cache if for_cache else partial(self._admit, request, now, context)
        answer = self._answer_or_error(request, context, admit)
        answer.key_id, answer.endpoint = context.key_id, context.endpoint
        answer.shared_scope = context.shared_scope
        return answer

    def _answer_or_error(self, request: Request, context: ResponseContext, admit: _Admit) -> Answer:
        try:
            return self._answer(request, context, admit)
        except NotFound as error:
            return self._lost_page(request, context) or _error_answer(error, context)
        except ApiError as error:
            return _error_answer(error, context)
        except NoLiveBuild as error:
            self._log.once(f"requests get 500 until a build is live: {error}")
            return _failure("no build has been published here yet; try again later", context)
        except Exception as error:
            self._log.failure(request, error)
            context.headers.pop("X-Build", None)
            return _failure("something failed here; try again later", context)

    def _lost_page(self, request: Request, context: ResponseContext) -> Answer | None:
        """Return the page that says 404 to a browser, or None for the API, for programs, and for builds without it."""
        if _OF_API.match(request.path) or not prefers(request.headers.get("accept", ""), "text/html", JSON):
            return None
        try:
            body = contents.site_file(self._stock.builds.select(), site_files.LOST_PAGE, {})
            gzip = accepts_gzip(request.headers.get("accept-encoding", ""))
            content = body.gzipped if gzip else body.inflated(self._stock.waiting)
        except (ApiError, StoreError, NoLiveBuild):
            return None
        headers = {
            **COMMON_HEADERS,
            **SITE_HEADERS,
            **body.headers(gzip),
            **context.headers,
            "Cache-Control": "no-store",
        }
        del headers["ETag"]
        return Answer(404, {**headers, "Vary": "Accept, Accept-Encoding"}, content)

    def _answer(self, request: Request, context: ResponseContext, admit: _Admit) -> Answer:
        if request.method != "GET" and (other := _answer_other_method(request)) is not None:
            return other
        endpoint, subject = route(request.path)
        context.endpoint, context.shared_scope = endpoint.path, endpoint.shared_scope
        record = admit(endpoint)
        return endpoint.source.answer(Asked(request, endpoint, subject, record, context), self._stock)

    def _admit(self, request: Request, now: float, context: ResponseContext, endpoint: Endpoint) -> KeyRecord | None:
        """Check the key, the limit and the scope. Return the key's record, or None if the endpoint is public."""
        if endpoint.public:
            if endpoint.rate_limited:
                self._count(address_name(request.client), DEFAULT_RATE_LIMIT, now, context)
            return None
        record = authenticate(self._keys, request.headers, now)
        context.key_id = record.id
        window = endpoint.window
        self._count(window.name(record.id), record.rate_limit * window.factor, now, context)
        if endpoint.scope is not None and endpoint.scope not in record.scopes:
            raise InsufficientScope(f"this key may not read this: it lacks the scope {endpoint.scope}")
        return record

    def _count(self, name: str, limit: int, now: float, context: ResponseContext) -> None:
        usage = self._counter.hit(name, limit, now)
        context.headers.update(usage.headers())
        if not usage.allowed:
            wait = max(1, usage.reset - int(now))
            raise RateLimited(
                f"over the limit of {limit} requests per minute: wait {wait} seconds", Retry_After=str(wait)
            )


def _admit_cache(endpoint: Endpoint) -> None:
    if endpoint.shared_scope is None:
        raise NotFound("no cache keeps this")


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
    allowed = endpoint.methods if endpoint else ("GET",)
    if request.method in allowed:
        return None
    is_preflight = "origin" in request.headers and "access-control-request-method" in request.headers
    if request.method == "OPTIONS" and is_preflight and (endpoint is None or endpoint.path.startswith(API)):
        return Answer(204, dict(_PREFLIGHT_HEADERS))
    why = "every operation is GET" if allowed == ("GET",) else f"this path answers {' and '.join(allowed)}"
    raise MethodNotAllowed(f"{quote_input(request.method)} is not allowed: {why}", Allow=", ".join(allowed))


def _endpoint(path: bytes) -> Endpoint | None:
    """Return the endpoint of a path, or None if there is no such path."""
    try:
        return route(path)[0]
    except NotFound:
        return None
