"""The answers: 200 in an encoding that the client accepts, 304, and errors as JSON."""

import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import lru_cache
from http.client import responses
from typing import TYPE_CHECKING

from flask import Response

from edge_auth.api.endpoints import COMMON_HEADERS, SITE_HEADERS, Endpoint
from edge_auth.api.request import Asked
from edge_auth.builds.bodies import JSON, Body, MadeBody, accepts_gzip, dumps
from edge_auth.errors import ApiError, InternalError
from edge_auth.live.keys import KeyRecord

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

RETRY_AFTER_SECONDS = 5
_CONTENT_HEADERS = ("Content-Length", "Content-Encoding")
_STATUS_LINES = {int(status): f"{int(status)} {phrase}" for status, phrase in responses.items()}
# A proxy that writes the bodies of all answers with status 400 asks for the shim's own one in this header. The shim's
# server refuses some requests without a body, and such a proxy sees only the status.
_REFUSAL = "X-Refusal"
_PREFLIGHT_HEADERS = {
    **COMMON_HEADERS,
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "Authorization, X-API-Key, If-None-Match, X-Build, X-Request-ID, Range, If-Range, "
    "Cache-Control, Content-Type",
    "Access-Control-Max-Age": "7200",
}


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


def success(asked: Asked, endpoint: Endpoint, body: Body, read: Callable[[Body], bytes | Iterable[bytes]]) -> Answer:
    """Return 200 with the body in an encoding that the client accepts, or 304 if the client has it already.

    Args:
        read: Returns the plain content of a body, whole or in chunks.
    """
    gzip = accepts_gzip(asked.environ.get("HTTP_ACCEPT_ENCODING", ""))
    fields = {**endpoint.headers, **body.headers(gzip), **asked.headers}
    if not endpoint.sends_rate_limit:
        fields = {name: value for name, value in fields.items() if not name.startswith("X-RateLimit-")}
    condition = asked.environ.get("HTTP_IF_NONE_MATCH")
    if condition is not None and body.matches(condition):
        return Answer(304, {name: value for name, value in fields.items() if name not in _CONTENT_HEADERS})
    content = body.gzipped if gzip else read(body)
    return Answer(200, fields, content) if isinstance(content, bytes) else Answer(200, fields, chunks=content)


def lost_page(asked: Asked, body: Body, waiting: Callable[[], AbstractContextManager[None]]) -> Answer:
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


def preflight() -> Answer:
    """Return the answer to a browser that asks what a page may send."""
    return Answer(204, dict(_PREFLIGHT_HEADERS))


@lru_cache(1024)
def key_body(record: KeyRecord) -> Body:
    """Return what a client may know about its key."""
    return MadeBody(dumps(record.public()) + b"\n")
