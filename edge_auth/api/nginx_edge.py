"""What the shim and the nginx of `edge_auth/nginx`, which answers requests from its memory, say to each other.

They use headers, which are read only on a unix socket that only nginx reaches. nginx removes those that clients send.
Before a switch nginx asks for several answers at once: the body of its request has a line for each, with the encoding
(`gzip` or `plain`) and the address. It gets them in this order, as HTTP/1.1 would send them.
"""

import time
from http.client import responses
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from edge_auth.api.answer import Shim
from edge_auth.live.metrics import NO_LABEL
from edge_auth.live.request import Answer, Request

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_FETCH = "fetch "


def fetches(environ: "WSGIEnvironment") -> bool:
    """Return whether nginx itself asks, for answers to keep. No client has sent this request."""
    return str(environ.get("HTTP_X_EDGE_BUILD", "")).startswith(_FETCH)


def fetched(shim: Shim, environ: "WSGIEnvironment") -> bytes:
    """Return the answers that nginx asks for."""
    build = environ["HTTP_X_EDGE_BUILD"].removeprefix(_FETCH)
    size = int(environ.get("CONTENT_LENGTH") or 0)  # none from an nginx that still runs the Lua of an older version
    lines = environ["wsgi.input"].read(size).decode("latin-1").splitlines()
    return b"".join(_http_text(_answer(shim, build, *line.split(" ", 1)), build) for line in lines)


def _answer(shim: Shim, build: str, encoding: str, address: str) -> Answer:
    path, _, query = address.partition("?")
    headers = {"x-build": build, "accept-encoding": "gzip" if encoding == "gzip" else ""}
    return shim.answer(Request("GET", unquote_to_bytes(path), query, headers, "", ""), time.time(), for_cache=True)


def _http_text(answer: Answer, build: str) -> bytes:
    describe(answer, build)
    lines = [f"{name}: {value}\r\n" for name, value in answer.headers.items()]
    head = f"HTTP/1.1 {answer.status} {responses[answer.status]}\r\n{''.join(lines)}\r\n"
    return head.encode("latin-1") + answer.body


def asked_build(environ: "WSGIEnvironment") -> str:
    """Return the build that nginx expects an answer from, or ''."""
    return str(environ.get("HTTP_X_EDGE_BUILD", ""))


def describe(answer: Answer, build: str) -> None:
    """Tell nginx the endpoint of an answer. Let it keep one that comes from the build that it has asked for."""
    answer.headers["X-Edge-Endpoint"] = answer.endpoint or NO_LABEL
    if answer.shared_scope and build and answer.status in (200, 304) and answer.headers.get("X-Build") == build:
        answer.headers["X-Edge-Scope"] = answer.shared_scope
