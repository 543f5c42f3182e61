"""The answers: 200 in an encoding that the client accepts, 304, and errors as JSON."""

import json
import re
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache
from http.client import responses
from typing import TYPE_CHECKING

from flask import Response

from edge_auth.api.endpoints import COMMON_HEADERS, SITE_HEADERS, Endpoint
from edge_auth.api.request import Asked
from edge_auth.builds.bodies import JSON, Body, MadeBody, accepts_gzip, dumps
from edge_auth.errors import ApiError, InternalError, StoreError
from edge_auth.live.bulk_files import MAX_READ_BYTES, Holder, StoredBulkFiles
from edge_auth.live.keys import KeyRecord

Waiting = Callable[[], AbstractContextManager[None]]
RETRY_AFTER_SECONDS = 5
_CONTENT_HEADERS = ("Content-Length", "Content-Encoding")
_STATUS_LINES = {int(status): f"{int(status)} {phrase}" for status, phrase in responses.items()}
# A proxy that writes the bodies of all answers with status 400 asks for the shim's own one in this header. The shim's
# server refuses some requests without a body, and such a proxy sees only the status.
_REFUSAL = "X-Refusal"
_ALLOWED_HEADERS = (
    "Authorization, X-API-Key, If-None-Match, X-Build, X-Request-ID, Range, If-Range, Cache-Control, Content-Type"
)
_ASKED_HEADERS = re.compile(r"[ \t]*[\w!#$%&'*+.^`|~-]+[ \t]*(?:,[ \t]*[\w!#$%&'*+.^`|~-]+[ \t]*)*", re.ASCII)
_MAX_ASKED_BYTES = 1000
_MEDIA_RANGE = re.compile(r"[\w!#$&^.+*-]+/[\w!#$&^.+*-]+")
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"')
_PARAMETER = re.compile(r"""[\w!#$&^.+*'%|~-]+[ \t]*=[ \t]*("[^"]*"|[^\s;,"]*)""")
_QUALITY = re.compile(r"1(\.0{0,3})?|0(\.[0-9]{0,3})?")
_MAX_CHARACTERS = 256  # a longer header is read as far as this


if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class Answer(Response):
    """A response whose headers say everything, in a plain dict. Flask's own copies and checks each header.

    Attributes:
        code: The status.
        fields: The headers.
        body: The content.
        chunks: The content in chunks, to be sent when other requests run, in place of `body`.
    """

    def __init__(
        self, code: int, fields: dict[str, str], body: bytes = b"", chunks: Iterable[bytes] | None = None
    ):  # Response.__init__ would make what these four replace
        self.code = code
        self.fields = fields
        self.body = body
        self.chunks = chunks

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Send it."""
        start_response(_STATUS_LINES[self.code], list(self.fields.items()))
        return [self.body] if self.chunks is None else self.chunks

    def text(self) -> bytes:
        """Return the status, the headers and the body, as HTTP/1.1 writes them."""
        lines = [f"{name}: {value}\r\n" for name, value in self.fields.items()]
        return f"HTTP/1.1 {_STATUS_LINES[self.code]}\r\n{''.join(lines)}\r\n".encode("latin-1") + self.body


def success(
    asked: Asked, endpoint: Endpoint, body: Body, waiting: Waiting = nullcontext, files: StoredBulkFiles | None = None
) -> Answer:
    """Return 200 with the body in an encoding that the client accepts, or 304 if the client has it already.

    Args:
        waiting: Returns the context in which other requests run.
        files: What sends a large body in chunks.
    """
    gzip = accepts_gzip(asked.environ.get("HTTP_ACCEPT_ENCODING", ""))
    fields = {**endpoint.headers, **body.headers(gzip), **asked.headers}
    if not endpoint.sends_rate_limit:
        fields = {name: value for name, value in fields.items() if not name.startswith("X-RateLimit-")}
    condition = asked.environ.get("HTTP_IF_NONE_MATCH")
    if condition is not None and body.matches(condition):
        return Answer(304, {name: value for name, value in fields.items() if name not in _CONTENT_HEADERS})
    if files is None or asked.method == "HEAD":
        return Answer(200, fields, body.gzipped if gzip else body.inflated(waiting))
    holder = Holder(asked.record.id if asked.record else None, asked.client)
    if body.file is not None and not gzip:
        with suppress(StoreError):  # it is gone
            return Answer(200, fields, chunks=files.stream_local(body.file, body.size, holder))
    content = body.gzipped if gzip else body.inflated(waiting)
    if len(content) <= MAX_READ_BYTES:
        return Answer(200, fields, content)
    return Answer(200, fields, chunks=files.stream_bytes(content, holder))


def lost_page(asked: Asked, body: Body, waiting: Waiting) -> Answer:
    """Return 404 with the page that says so to a browser."""
    gzip = accepts_gzip(asked.environ.get("HTTP_ACCEPT_ENCODING", ""))
    of_page = {**COMMON_HEADERS, **SITE_HEADERS, **body.headers(gzip), **asked.headers}
    fields = {**of_page, "Cache-Control": "no-store", "Vary": "Accept, Accept-Encoding"}
    del fields["ETag"]
    return Answer(404, fields, body.gzipped if gzip else body.inflated(waiting))


def refusal(error: ApiError, asked: Asked) -> Answer:
    """Return the answer that says an error."""
    body = dumps({"error": {"code": error.code, "message": str(error)}}) + b"\n"
    fields = {**COMMON_HEADERS, **asked.headers, **error.headers, "Cache-Control": "no-store"}
    fields |= {"Content-Type": JSON, "Content-Length": str(len(body))}
    if error.status == 400 and f"HTTP_{_REFUSAL.upper().replace('-', '_')}" in asked.environ:
        fields[_REFUSAL] = json.dumps(json.loads(body), separators=(",", ":"))  # in ASCII
    return Answer(error.status, fields, body)


def failure(message: str, asked: Asked) -> Answer:
    """Return 500."""
    return refusal(InternalError(message, Retry_After=str(RETRY_AFTER_SECONDS)), asked)


def preflight(asked: Asked) -> Answer:
    """Return the answer to a browser that asks what a page may send. It may send the headers that it asks for."""
    names = asked.environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", "")
    usable = len(names) <= _MAX_ASKED_BYTES and _ASKED_HEADERS.fullmatch(names)
    fields = {
        **COMMON_HEADERS,
        "Access-Control-Allow-Methods": "GET",
        "Access-Control-Allow-Headers": names.strip(" \t") if usable else _ALLOWED_HEADERS,
        "Access-Control-Max-Age": "7200",
        "Vary": "Access-Control-Request-Headers",
    }
    return Answer(204, fields)


@lru_cache(1024)
def key_body(record: KeyRecord) -> Body:
    """Return what a client may know about its key."""
    return MadeBody(dumps(record.public()) + b"\n")


def prefers(accept: str, wanted: str, usual: str) -> bool:
    """Return whether a header Accept gives the type `wanted` a greater quality than the type `usual`.

    A range that names a type counts for it before `type/*`, and that before `*/*`. Parameters other than q are ignored.
    """
    qualities = _qualities(accept[:_MAX_CHARACTERS].lower())
    return _quality(qualities, wanted) > _quality(qualities, usual)


def _qualities(accept: str) -> dict[str, float]:
    """Return the quality of each media range, the greatest if a range is repeated. A malformed element is skipped."""
    found: dict[str, float] = {}
    for element in _QUOTED.sub(lambda text: re.sub("[,;]", "", text[0]), accept).split(","):
        media_range, *parameters = (part.strip(" \t") for part in element.split(";"))
        if not _MEDIA_RANGE.fullmatch(media_range) or not all(map(_PARAMETER.fullmatch, parameters)):
            continue
        given = (parameter.partition("=") for parameter in parameters)
        quality = next((value.strip(' \t"') for name, _, value in given if name.strip(" \t") == "q"), "1")
        if _QUALITY.fullmatch(quality):
            found[media_range] = max(found.get(media_range, 0.0), float(quality))
    return found


def _quality(qualities: dict[str, float], media_type: str) -> float:
    kind = media_type.partition("/")[0]
    ranges = (media_type, f"{kind}/*", "*/*")
    return next((qualities[name] for name in ranges if name in qualities), 0.0)
