"""The sources of answers: a build, the steps of the store, the key of the request, and the bulk files."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial

from edge_auth.api.bulk import file_answer
from edge_auth.api.changes import StepLog
from edge_auth.api.endpoint import Asked, Builds, Endpoint, Stock
from edge_auth.api.parameters import quote_input
from edge_auth.api.views import Values
from edge_auth.builds.bodies import Body, MadeBody, accepts_gzip, dumps
from edge_auth.errors import AccessDenied, InvalidParameter, MissingObject, StoreError, UnknownBuild
from edge_auth.live.keys import KeyRecord
from edge_auth.live.open_build import OpenBuild
from edge_auth.live.request import Answer

_CONTENT_HEADERS = ("Content-Length", "Content-Encoding")


@dataclass(frozen=True)
class FromBuild:
    """A body that a build determines.

    Attributes:
        body: Makes the body from a build, the subject of the path, and the parameters.
        pinned: Whether X-Build selects the build. Pages for people always come from the live one.
        form: Returns the subject for a header Accept, if the body has several forms.
    """

    body: Callable[[OpenBuild, str, Values], Body]
    pinned: bool = True
    form: Callable[[str], str] | None = None
    of_build = True

    def answer(self, asked: Asked, stock: Stock) -> Answer:
        """Answer from one build. If it was pruned meanwhile, answer from the build that is live then."""
        pin = (asked.request.headers.get("x-build") or None) if self.pinned else None
        build = _select_build(stock.builds, pin)
        try:
            return self._read(build, asked, stock)
        except (MissingObject, AccessDenied):  # the errors for objects of a pruned build
            if not stock.builds.has_changed(build, pin):
                raise
        del asked.context.headers["X-Build"]
        return self._read(_select_build(stock.builds, pin), asked, stock)

    def make_body(self, build: OpenBuild, endpoint: Endpoint, subject: str, query: str) -> Body:
        """Return the body for a subject and a query.

        Raises:
            ApiError: A parameter is not allowed, or there is no such object.
            StoreError: The store failed.
        """
        return self.body(build, subject, endpoint.parameters(subject, query))

    def _read(self, build: OpenBuild, asked: Asked, stock: Stock) -> Answer:
        request, endpoint, subject, *_ = asked
        path = request.path
        asked.context.headers["X-Build"] = build.id
        if self.form is not None:
            subject = self.form(request.headers.get("accept", ""))
            path = f"/{subject}".encode()  # each form is cached
        make = partial(self.make_body, build, endpoint, subject, request.query)
        return _success(asked, build.cached_body(path, request.query, make), stock)


@dataclass(frozen=True)
class FromSteps:
    """A body that the steps of the store determine."""

    body: Callable[[StepLog, str, Values], Body]
    of_build = False

    def answer(self, asked: Asked, stock: Stock) -> Answer:
        """Answer from the steps."""
        values = asked.parameters()
        return _success(asked, self.body(stock.builds.steps, asked.subject, values), stock)


class FromKey:
    """The record of the key of the request."""

    of_build = False

    def answer(self, asked: Asked, stock: Stock) -> Answer:
        """Answer with the record."""
        asked.parameters()
        assert asked.record is not None, "a public endpoint has no key"
        return _success(asked, _key_body(asked.record), stock)


class FromFiles:
    """A bulk file, which belongs to no single build."""

    of_build = False

    def answer(self, asked: Asked, stock: Stock) -> Answer:
        """Answer with the file or a part of it."""
        asked.parameters()
        assert asked.record is not None, "downloads are counted by key"
        headers = {**asked.endpoint.headers, **asked.context.headers}
        return file_answer(stock.files, asked.subject, asked.request, headers, asked.record.id)


def _select_build(builds: Builds, pin: str | None) -> OpenBuild:
    try:
        return builds.select(pin)
    except UnknownBuild:
        live = builds.select().id
        raise InvalidParameter(f"X-Build {quote_input(pin or '')} is not kept here; the live build is {live}") from None


def _success(asked: Asked, body: Body, stock: Stock) -> Answer:
    """Return 200 with the body in an encoding that the client accepts, or 304 if the client has it already."""
    request_headers, endpoint = asked.request.headers, asked.endpoint
    gzip = accepts_gzip(request_headers.get("accept-encoding", ""))
    not_modified = "if-none-match" in request_headers and body.matches(request_headers["if-none-match"])
    headers = {**endpoint.headers, **body.headers(gzip), **asked.context.headers}
    if not endpoint.sends_rate_limit:
        headers = {name: value for name, value in headers.items() if not name.startswith("X-RateLimit-")}
    if not_modified:
        headers = {name: value for name, value in headers.items() if name not in _CONTENT_HEADERS}
        return Answer(304, headers)
    if gzip:
        return Answer(200, headers, body.gzipped)
    return _plain(body, headers, asked.context.key_id or "", stock)


def _plain(body: Body, headers: dict[str, str], key_id: str, stock: Stock) -> Answer:
    """Return 200 with the plain content: from its local file, or inflated if that is gone or too many read it."""
    if body.file is not None:
        with suppress(StoreError):
            return Answer(200, headers, stream=stock.files.stream_local(body.file, body.size, key_id))
    return Answer(200, headers, body.inflated(stock.waiting))


@lru_cache(1024)
def _key_body(record: KeyRecord) -> Body:
    return MadeBody(dumps(record.public()) + b"\n")
