"""The answers: 200 in an encoding that the client accepts, 304, errors as JSON; what is added and noted after each."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from http.client import responses
from time import perf_counter
from wsgiref.types import StartResponse, WSGIEnvironment

from flask import Response
from werkzeug.datastructures import Headers, MIMEAccept
from werkzeug.http import parse_accept_header

from edge_auth.api.auth import address_of
from edge_auth.api.endpoint import COMMON_HEADERS, Endpoint
from edge_auth.api.flask_app import ApiRequest, Cardpress, this_request, this_service
from edge_auth.errors import ApiError, InternalError
from edge_auth.live.bulk_files import MAX_READ_BYTES, Holder, cut, of_file
from edge_auth.live.metrics import NO_LABEL
from edge_auth.live.slow_readers import SMALL_BYTES
from generator.storage.bodies import JSON, Body, accepts_gzip, dumps
from generator.storage.errors import NoLiveBuild, StoreError

_CONTENT_HEADERS = ("Content-Length", "Content-Encoding")
_STATUS_LINES = {int(status): f"{int(status)} {phrase}" for status, phrase in responses.items()}
# What answers a preflight. A page may send the headers that it asks for, or these.
PREFLIGHT_HEADERS = COMMON_HEADERS | {
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "Authorization, X-API-Key, If-None-Match, X-Build, X-Request-ID, Range, If-Range, "
    "Cache-Control, Content-Type",
    "Access-Control-Max-Age": "7200",
    "Vary": "Access-Control-Request-Headers",
}
_ASKED_HEADERS = re.compile(r"[ \t]*[\w!#$%&'*+.^`|~-]+[ \t]*(?:,[ \t]*[\w!#$%&'*+.^`|~-]+[ \t]*)*", re.ASCII)
_MAX_ASKED_BYTES = 1000
_MAX_CHARACTERS = 256  # a longer header is read as far as this


class Answer(Response):
    """A `Response` whose headers need neither copies nor checks, which takes a tenth of the time.

    It sets all that `Response` sets. `chunks` replace the body.
    """

    def __init__(
        self, status_code: int, fields: dict[str, str], body: bytes = b"", chunks: Iterable[bytes] | None = None
    ):
        self._status_code, self._status = status_code, _STATUS_LINES[status_code]
        self.headers = Headers()
        self.headers._list = list(fields.items())
        self.response: Iterable[bytes] = [body] if chunks is None else chunks
        self.direct_passthrough = chunks is not None
        self.size = len(body) if chunks is None else int(fields["Content-Length"])
        self._on_close: list[Callable[[], object]] = []

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response(self._status, self.headers.to_wsgi_list())
        plain = not self._on_close and environ["REQUEST_METHOD"] != "HEAD"
        return self.response if plain else self.get_app_iter(environ)


def success(request: ApiRequest, service: Cardpress, endpoint: Endpoint, body: Body) -> Answer:
    """Return 200 with the body in an encoding that the client accepts, or 304 if the client has it already."""
    gzip = accepts_gzip(request.environ.get("HTTP_ACCEPT_ENCODING", ""))
    of_endpoint = endpoint.shared_headers if service.settings.behind_cdn else endpoint.headers
    fields = {**of_endpoint, **body.headers(gzip), **request.answer_headers}
    if not endpoint.sends_rate_limit:
        fields = {name: value for name, value in fields.items() if not name.startswith("X-RateLimit-")}
    condition = request.environ.get("HTTP_IF_NONE_MATCH")
    if condition is not None and body.matches(condition):
        return Answer(304, {name: value for name, value in fields.items() if name not in _CONTENT_HEADERS})
    files = service.files if request.method != "HEAD" else None
    if files is not None and body.file is not None and not gzip:
        chunks = of_file(body.file, range(body.size))
        with suppress(StoreError):  # it is gone
            return Answer(200, fields, chunks=files.send(chunks, holder(request, service)))
    content = body.gzipped if gzip else body.plain
    if files is not None and len(content) > MAX_READ_BYTES:
        return Answer(200, fields, chunks=files.send(cut(content), holder(request, service)))
    if files is not None and len(content) > SMALL_BYTES:
        files.unread.note(*holder(request, service), len(content))
    return Answer(200, fields, content)


def holder(request: ApiRequest, service: Cardpress) -> Holder:
    return Holder(request.key_id, address_of(request, service))


def lost_page(request: ApiRequest, body: Body, headers: Mapping[str, str]) -> Answer:
    """Return 404 with the page that says so to a browser."""
    gzip = accepts_gzip(request.environ.get("HTTP_ACCEPT_ENCODING", ""))
    fields = {**COMMON_HEADERS, **headers, **body.headers(gzip), **request.answer_headers}
    fields |= {"Cache-Control": "no-store", "Vary": "Accept, Accept-Encoding"}
    del fields["ETag"]
    return Answer(404, fields, body.gzipped if gzip else body.plain)


def refusal(error: ApiError) -> Answer:
    """Return the answer that an error means, as JSON."""
    request = this_request()
    body = dumps({"error": {"code": error.code, "message": str(error)}}) + b"\n"
    # To the answers of an added view `finish` adds the common headers, after what extensions say of its origin.
    common = {} if request.access and request.access.own else COMMON_HEADERS
    fields = {**common, **request.answer_headers, **error.headers, "Cache-Control": "no-store"}
    fields |= {"Content-Type": JSON, "Content-Length": str(len(body))}
    # A proxy that writes the bodies of all answers with status 400 asks for the shim's own one in this header. The
    # shim's server refuses some requests without a body, and such a proxy sees only the status.
    if error.status == 400 and "HTTP_X_REFUSAL" in request.environ:
        fields["X-Refusal"] = json.dumps(json.loads(body), separators=(",", ":"))  # in ASCII
    return Answer(error.status, fields, body)


def no_build(error: NoLiveBuild) -> Answer:
    service = this_service()
    if service.log is not None:
        service.log.once(f"requests get 500 until a build is live: {error}")
    return _failure("no build has been published here yet; try again later")


def failed(error: object) -> Answer:
    """Return 500. Flask has logged what failed."""
    this_request().answer_headers.pop("X-Build", None)
    return _failure("something failed here; try again later")


def _failure(message: str) -> Answer:
    return refusal(InternalError(message, Retry_After="5"))


def preflight(request: ApiRequest) -> Answer:
    """Return the answer to a browser that asks what a page may send."""
    names = request.environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", "")
    usable = len(names) <= _MAX_ASKED_BYTES and _ASKED_HEADERS.fullmatch(names)
    asked = {"Access-Control-Allow-Headers": names.strip(" \t")} if usable else {}
    return Answer(204, PREFLIGHT_HEADERS | asked)


def finish(response: Response) -> Response:
    """Add to the answer of an added view what every answer to a key has. Log and count each."""
    request = this_request()
    service = this_service()
    access = request.access
    if access is None and request.routing_exception is None:  # another route of the application
        return response
    if access is not None and access.own:
        response.vary.update(("Authorization", "X-API-Key"))
        for name, value in (COMMON_HEADERS | request.answer_headers | {"Cache-Control": "private, no-cache"}).items():
            response.headers.setdefault(name, value)
    if service.settings.socket is not None:  # it may keep an answer that comes from the build that it has asked for
        build = request.environ.get("HTTP_X_EDGE_BUILD", "")
        may_keep = response.status_code in (200, 304) and build and request.answer_headers.get("X-Build") == build
        of_access = {"X-Edge-Endpoint": access.path if access else NO_LABEL}
        response.headers.extend(access.edge_headers if access and may_keep else of_access)
    if service.log is not None:
        has_body = request.method != "HEAD" and response.status_code not in (204, 304)
        size = response.size if isinstance(response, Answer) else response.calculate_content_length()
        endpoint, seconds = access.path if access else None, perf_counter() - request.started
        service.metrics.request(endpoint, response.status_code, seconds, request.key_id)
        service.log.request(request, endpoint, response.status_code, (size or 0) if has_body else 0, seconds)
    return response


def prefers(accept: str, wanted: str, usual: str) -> bool:
    """Return whether a header Accept prefers the type `wanted` to the type `usual`. Only the parameter q counts."""
    listed = parse_accept_header(accept[:_MAX_CHARACTERS].lower())
    accepted = MIMEAccept([(media_range.partition(";")[0], quality) for media_range, quality in listed])
    return bool(accepted.quality(wanted) > accepted.quality(usual))
