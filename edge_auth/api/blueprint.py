"""The API in Flask: a rule for each row of the table of endpoints, the checks before a view, and what follows it.

The order of the checks is that of docs/api.md: method, path, key, limit, scope, build, parameters, look-up.
"""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

from flask import Blueprint, Response, g, request
from flask.globals import request_ctx
from werkzeug.exceptions import HTTPException
from werkzeug.exceptions import MethodNotAllowed as OtherMethods

from edge_auth.api import nginx_edge, views
from edge_auth.api.access import Door
from edge_auth.api.endpoints import API, ENDPOINTS, HOME, SITE, Endpoint, Source, nearest_path
from edge_auth.api.parameters import quote_input, read_query
from edge_auth.api.request import Asked, read_request
from edge_auth.api.responses import Answer, failure, key_body, lost_page, prefers, preflight, refusal, success
from edge_auth.builds import object_keys
from edge_auth.builds.bodies import JSON, matches_tag
from edge_auth.builds.bulk import LIVE_CATALOGUE
from edge_auth.errors import (
    AccessDenied,
    ApiError,
    InvalidParameter,
    MethodNotAllowed,
    MissingObject,
    NoLiveBuild,
    NotFound,
    RangeNotSatisfiable,
    StoreError,
    UnknownBuild,
)
from edge_auth.live.build_registry import BuildRegistry, OneBuild
from edge_auth.live.bulk_files import MAX_READ_BYTES, Holder, Span, StoredBulkFiles
from edge_auth.live.log import Answered, Log
from edge_auth.live.metrics import Metrics
from edge_auth.live.open_build import OpenBuild

_TAG_DIGITS = 32
_ONE_RANGE = re.compile(r"bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*", re.IGNORECASE)
_MAX_DIGITS, _MAX_PIN_CHARACTERS = 18, 200


def file_answer(files: StoredBulkFiles, asked: Asked, endpoint: Endpoint) -> Answer:
    """Return the answer to a request for a bulk file.

    Raises:
        NotFound: No build that the store keeps lists it.
        StoreError: The store failed.
        RateLimited: The key, its address or all keys together download too much already.
        RangeNotSatisfiable: The range begins beyond the end of the file.
    """
    assert asked.record is not None, "downloads are counted by key"
    file = files.find(asked.subject)
    tag = file.sha256[:_TAG_DIGITS]
    fields = {**endpoint.headers, **asked.headers, "ETag": f'"{tag}"'}
    if asked.subject == LIVE_CATALOGUE:  # tomorrow this address has another file
        fields["Cache-Control"] = "private, no-cache"
    if matches_tag(asked.environ.get("HTTP_IF_NONE_MATCH", ""), tag):
        return Answer(304, fields)
    fields["Content-Type"] = file.media_type
    part = _requested_span(asked, tag, file.size)
    if part is not None:
        fields["Content-Range"] = f"bytes {part.start}-{part.end - 1}/{file.size}"
    span = part or Span(0, file.size)
    length = span.end - span.start
    status, fields = 200 if part is None else 206, fields | {"Content-Length": str(length)}
    if asked.method == "HEAD":
        return Answer(status, fields)
    if length <= MAX_READ_BYTES:
        return Answer(status, fields, files.read(file, span))
    return Answer(status, fields, chunks=files.stream(file, span, Holder(asked.record.id, asked.client)))


def _requested_span(asked: Asked, tag: str, size: int) -> Span | None:
    """Return the range that a request names, or None for the whole file.

    Raises:
        RangeNotSatisfiable: The range begins beyond the end of the file.
    """
    text, quoted = asked.environ.get("HTTP_RANGE"), f'"{tag}"'
    if text is None or asked.method == "HEAD" or asked.environ.get("HTTP_IF_RANGE", quoted) != quoted:
        return None
    found = _ONE_RANGE.fullmatch(text)
    if found is None or not any(found.groups()):
        return None
    first, last = (digits and (digits.lstrip("0") or "0") for digits in found.groups())
    if first and last and (len(last), last) < (len(first), first):
        return None
    if first:
        span = Span(_position(first), min(_position(last) + 1, size) if last else size)
    else:
        span = Span(max(0, size - _position(last)), size)
    if span.start >= size:
        raise RangeNotSatisfiable(f"the file has {size} bytes", Content_Range=f"bytes */{size}")
    return span


def _position(digits: str) -> int:
    """Return a position of a range. Python refuses to read very long numbers; no file is that large."""
    return int(digits) if len(digits) <= _MAX_DIGITS else 10**_MAX_DIGITS


_ONE_HOST = "an HTTP/1.1 request must have one header Host"
_OF_API = re.compile(rb"/api(?:/|$)")


@dataclass(frozen=True)
class Parts:
    """What requests are answered from.

    Attributes:
        door: Checks keys, limits and scopes. Without it, this process asks itself, needs no key, only a build answers.
        log: Without it, failures are raised.
        waiting: Returns the context of slow work, in which other requests run if requests take turns.
        behind_nginx: Whether every request comes from the nginx of `edge_auth/nginx`.
        behind_cdn: Whether a shared cache asks before each use of a copy.
    """

    builds: BuildRegistry | OneBuild
    door: Door | None = None
    files: StoredBulkFiles | None = None
    log: Log | None = None
    metrics: Metrics = field(default_factory=Metrics)
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext
    behind_nginx: bool = False
    behind_cdn: bool = False

    def inside(self) -> "Parts":
        """Return the parts for requests of this process itself."""
        return replace(self, door=None, files=None, log=None, metrics=Metrics())


class Api:
    """The functions that a blueprint registers, over the parts of a shim."""

    def __init__(self, parts: Parts):
        self._parts = parts
        self._builds = parts.builds
        self._rows: dict[str, Endpoint] = {}  # by the name that Flask has for the rule
        self._sources = {
            Source.BUILD: self._from_build,
            Source.STEPS: self._from_steps,
            Source.KEY: self._from_key,
            Source.FILES: self._from_files,
            Source.SITE: self._from_site,
        }

    def blueprint(self) -> Blueprint:
        """Return the rules and functions, to be registered once."""
        blueprint = Blueprint("api", __name__)
        for row in ENDPOINTS:
            if self._parts.door is not None or row.of_build:
                self._add(blueprint, row.id, row.rule, row.shared() if self._parts.behind_cdn else row)
        if self._parts.door is not None:
            self._add_site(blueprint)
        blueprint.before_app_request(self.check)
        blueprint.app_errorhandler(NotFound)(self.not_found)
        blueprint.app_errorhandler(ApiError)(lambda error: refusal(error, g.asked))
        if self._parts.log is not None:
            blueprint.app_errorhandler(NoLiveBuild)(partial(self.no_build, self._parts.log))
            blueprint.app_errorhandler(Exception)(partial(self.failed, self._parts.log))
        blueprint.after_app_request(self.finish)
        return blueprint

    def _add_site(self, blueprint: Blueprint) -> None:
        self._add(blueprint, "home", "/", HOME)
        for path in object_keys.ROOT_FILES:
            self._add(blueprint, path.replace(".", "_"), f"/{path}", SITE, path)
        for folder in object_keys.SITE_FOLDERS:
            self._add(blueprint, folder, f"/{folder}", SITE, folder)
            self._add(blueprint, f"{folder}_page", f"/{folder}/", SITE, f"{folder}/")
            self._add(blueprint, f"{folder}_file", f"/{folder}/<text:subject>", SITE, f"{folder}/")

    def _add(self, blueprint: Blueprint, name: str, rule: str, row: Endpoint, before: str = "") -> None:
        """Add a rule. `before` is what the subject of the path begins with."""
        answer = self._sources[row.source]

        def view(subject: str = "") -> Answer:
            asked: Asked = g.asked
            asked.subject = before + subject
            return answer(asked, row)

        self._rows[f"api.{name}"] = row
        blueprint.add_url_rule(rule, name, view, methods=row.methods, provide_automatic_options=False)

    # The checks before a view

    def check(self) -> Response | None:
        """Answer a request that needs no view, or refuse it."""
        name, environ = request.endpoint, request.environ
        if name is None and isinstance(request.routing_exception, OtherMethods):
            name, _ = request_ctx.url_adapter.match(method="GET")  # type: ignore[union-attr]  # it has matched before
        row = self._rows.get(name or "")
        if row is None and name is not None:
            return None  # another route of the application
        asked = g.asked = read_request(environ, row)
        host = environ.get("HTTP_HOST", "")  # granian joins the values of several with a comma
        if "," in host or (host == "" and environ.get("SERVER_PROTOCOL") == "HTTP/1.1"):
            asked.endpoint = None
            raise InvalidParameter(_ONE_HOST)
        if asked.method != "GET" and (answer := _other_method(asked)) is not None:
            return answer
        if row is None:
            raise NotFound(views.no_path(nearest_path(asked.path)))
        if self._parts.door is not None:
            self._parts.door.admit(asked, row)
        return None

    # The views, by the source of the answer

    def _from_build(self, asked: Asked, row: Endpoint) -> Answer:
        """Answer from the build that X-Build names, else from the live one."""
        pin = asked.environ.get("HTTP_X_BUILD", "")[:_MAX_PIN_CHARACTERS]  # a longer one is no build either
        return self._from(pin or None, asked, row, asked.path)

    def _from_site(self, asked: Asked, row: Endpoint) -> Answer:
        """Answer with a page of the live build. The page at / has two forms, each of which is cached."""
        path = asked.path
        if row is HOME:
            as_json = prefers(asked.environ.get("HTTP_ACCEPT", ""), JSON, "text/html")
            asked.subject = object_keys.HOME_JSON if as_json else object_keys.HOME_PAGE
            path = f"/{asked.subject}".encode()
        return self._from(None, asked, row, path)

    def _from(self, pin: str | None, asked: Asked, row: Endpoint, path: bytes) -> Answer:
        """Answer from one build. If it was pruned meanwhile, answer from the build that is live then."""
        build = self._select(pin)
        try:
            return self._read(build, asked, row, path)
        except (MissingObject, AccessDenied):  # the errors for objects of a pruned build
            if not self._builds.has_changed(build, pin):
                raise
        del asked.headers["X-Build"]
        return self._read(self._select(pin), asked, row, path)

    def _select(self, pin: str | None) -> OpenBuild:
        try:
            return self._builds.select(pin)
        except UnknownBuild:
            live = self._builds.select().id
            raise InvalidParameter(
                f"X-Build {quote_input(pin or '')} is not kept here; the live build is {live}"
            ) from None

    def _read(self, build: OpenBuild, asked: Asked, row: Endpoint, path: bytes) -> Answer:
        assert row.body is not None, "a build makes the bodies of its endpoints"
        make, subject, query = row.body, asked.subject, asked.query
        asked.headers["X-Build"] = build.id
        body = build.cached_body(path, query, lambda: make(build, subject, _parameters(row, subject, query)))
        return success(asked, row, body, self._parts.waiting, self._parts.files)

    def _from_steps(self, asked: Asked, row: Endpoint) -> Answer:
        """Answer from the steps of the store."""
        assert row.body is not None and isinstance(self._builds, BuildRegistry), "the steps follow the pointer"
        values = _parameters(row, asked.subject, asked.query)
        return success(asked, row, row.body(self._builds.steps, asked.subject, values))

    def _from_key(self, asked: Asked, row: Endpoint) -> Answer:
        """Answer with the record of the request's key."""
        _parameters(row, asked.subject, asked.query)
        assert asked.record is not None, "a public endpoint has no key"
        return success(asked, row, key_body(asked.record))

    def _from_files(self, asked: Asked, row: Endpoint) -> Answer:
        """Answer with a bulk file, which belongs to no single build, or a part of it."""
        _parameters(row, asked.subject, asked.query)
        assert self._parts.files is not None, "a shim has the files of its store"
        return file_answer(self._parts.files, asked, row)

    # The errors

    def not_found(self, error: NotFound) -> Answer:
        """Return 404: JSON for programs, a page for browsers, but not below /api and not from a build without it."""
        asked: Asked = g.asked
        if not _OF_API.match(asked.path) and prefers(asked.environ.get("HTTP_ACCEPT", ""), "text/html", JSON):
            with suppress(ApiError, StoreError, NoLiveBuild):
                page = views.site_file(self._builds.select(), object_keys.LOST_PAGE, {})
                return lost_page(asked, page, self._parts.waiting)
        return refusal(error, asked)

    def no_build(self, log: Log, error: NoLiveBuild) -> Answer:
        """Return 500 until a build is published."""
        log.once(f"requests get 500 until a build is live: {error}")
        return failure("no build has been published here yet; try again later", g.asked)

    def failed(self, log: Log, error: Exception) -> Response | HTTPException:
        """Return 500, and log why."""
        if isinstance(error, HTTPException):  # of another route of the application
            return error
        asked: Asked = g.asked
        log.failure(asked.method, asked.path, asked.id, error)
        asked.headers.pop("X-Build", None)
        return failure("something failed here; try again later", asked)

    # After the answer is made

    def finish(self, response: Response) -> Response:
        """Log and count an answer."""
        asked: Asked | None = g.get("asked")
        if asked is None or not isinstance(response, Answer):
            self._parts.metrics.flush()
            return response
        if self._parts.behind_nginx:
            nginx_edge.describe(response, asked)
        if asked.method == "HEAD":
            response.body = b""
        if self._parts.log is not None:
            answered = _answered(asked, response)
            self._parts.metrics.request(answered)
            self._parts.log.request(answered)
        return response


def _other_method(asked: Asked) -> Answer | None:
    """Answer the preflight request of a browser, refuse a method, or return None if the path allows the method.

    Raises:
        MethodNotAllowed: The path does not allow the method, and the request is no preflight of an API path.
    """
    row = asked.endpoint
    allowed = row.methods if row else ("GET",)
    if asked.method in allowed:
        return None
    is_preflight = "HTTP_ORIGIN" in asked.environ and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in asked.environ
    if asked.method == "OPTIONS" and is_preflight and (row is None or row.path.startswith(API)):
        asked.endpoint = None
        return preflight(asked)
    asked.endpoint = None
    why = "every operation is GET" if allowed == ("GET",) else f"this path answers {' and '.join(allowed)}"
    raise MethodNotAllowed(f"{quote_input(asked.method)} is not allowed: {why}", Allow=", ".join(allowed))


def _parameters(row: Endpoint, subject: str, query: str) -> views.Values:
    """Return the parameters of a request by name.

    Raises:
        InvalidParameter: The subject of the path or a parameter is not allowed.
    """
    if row.subject is not None:
        row.subject.read(row.subjects[0], subject)
    return read_query(query, row.rules) if row.rules is not None else {}


def _answered(asked: Asked, answer: Answer) -> Answered:
    return Answered(
        now=asked.now,
        method=asked.method,
        path=asked.path,
        endpoint=asked.endpoint.path if asked.endpoint else None,
        status=answer.code,
        size=len(answer.body) if answer.chunks is None else int(answer.fields["Content-Length"]),
        seconds=perf_counter() - asked.started,
        key_id=asked.record.id if asked.record else None,
        id=asked.id,
        build=answer.fields.get("X-Build"),
    )
