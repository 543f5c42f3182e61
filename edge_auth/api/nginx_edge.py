"""What the shim and the nginx of `edge_auth/nginx` say to each other, and the answers that the shim asks of itself.

That nginx answers requests from its memory. The two use headers, which are read only on a unix socket that only nginx
reaches. nginx removes those that clients send.

Before a switch nginx asks for several answers at once: the body of its request has a line for each, with the encoding
(`gzip` or `plain`) and the address. It gets them in this order, as HTTP/1.1 would send them.

For these lines, and to fill its cache before a build goes live, this process asks its own API: an application without
a door answers, in no other way than it answers clients.
"""

import time
from collections.abc import Callable
from typing import cast
from urllib.parse import unquote_to_bytes

from flask import Flask, request

from edge_auth.api.request import Asked, read_request
from edge_auth.api.responses import Answer, failure
from edge_auth.errors import EdgeError
from edge_auth.live.build_registry import BuildRegistry, OneBuild
from edge_auth.live.log import Log
from edge_auth.live.metrics import NO_LABEL
from edge_auth.live.open_build import OpenBuild

_FETCH = "fetch "
_MAX_WARMED_BYTES = 8 << 20  # half of the cache, which the answers of the build before need until then
_ENVIRON = {"REQUEST_METHOD": "GET", "SERVER_PROTOCOL": "HTTP/1.0"}


def describe(answer: Answer, asked: Asked) -> None:
    """Tell nginx the endpoint of an answer. Let it keep one that comes from the build that it has asked for."""
    row, build = asked.endpoint, asked.environ.get("HTTP_X_EDGE_BUILD", "")
    answer.fields["X-Edge-Endpoint"] = row.path if row else NO_LABEL
    if row and row.shared_scope and build and answer.code in (200, 304) and answer.fields.get("X-Build") == build:
        answer.fields["X-Edge-Scope"] = row.shared_scope


def answers_fetches(inside: Flask, builds: BuildRegistry | OneBuild, log: Log) -> Callable[[], Answer | None]:
    """Return a function that answers a request of nginx itself, which is neither counted nor logged.

    Args:
        inside: An application that answers the lines; its parts have no door.
    """

    def answered() -> Answer | None:
        environ = request.environ
        build: str = environ.get("HTTP_X_EDGE_BUILD", "")
        if not build.startswith(_FETCH):
            return None
        try:
            builds.select(build.removeprefix(_FETCH))
        except EdgeError as error:  # perhaps it is still being opened
            return failure(str(error), read_request(environ, None))
        size = int(environ.get("CONTENT_LENGTH") or 0)  # none from an nginx that still runs the Lua of an older version
        lines: list[str] = environ["wsgi.input"].read(size).decode("latin-1").split("\n")
        text = b"".join(_answer(inside, build.removeprefix(_FETCH), line, log).text() for line in lines if line)
        return Answer(200, {"Content-Type": "application/http", "Content-Length": str(len(text))}, text)

    return answered


def _answer(inside: Flask, build: str, line: str, log: Log) -> Answer:
    encoding, _, address = line.partition(" ")
    path, _, query = address.partition("?")
    asked = read_request({"REQUEST_METHOD": "GET", "PATH_INFO": path}, None)
    try:
        return ask(inside, unquote_to_bytes(path), query, build, gzip=encoding == "gzip")
    except Exception as error:  # nginx waits for an answer to each line, and keeps none like this
        log.failure(asked.method, asked.path, asked.id, error)
        return failure("something failed here; try again later", asked)


def ask(inside: Flask, path: bytes, query: str, build: str, *, gzip: bool) -> Answer:
    """Return the answer of this process from a build.

    Args:
        inside: See `edge_auth.api.flask_app.create_api`; its parts have no door.
        path: Percent-decoded.
        query: As a client sends it.

    Raises:
        StoreError: The store failed.
    """
    asked = {"PATH_INFO": path.decode("latin-1"), "QUERY_STRING": query, "HTTP_ACCEPT_ENCODING": "gzip" if gzip else ""}
    with inside.request_context(_ENVIRON | asked | {"HTTP_X_BUILD": build, "HTTP_X_EDGE_BUILD": build}):
        return cast("Answer", inside.full_dispatch_request())


def warm(inside: Flask, build: OpenBuild, before: OpenBuild, goes_on: Callable[[], bool]) -> None:
    """Put the answers that clients had from the build before into the cache of a build, the latest first.

    They are compressed if a client wanted them so. It pauses after each answer for as long as the answer took.

    Args:
        goes_on: Returns whether there is time for one more answer.

    Raises:
        StoreError: The store failed.
    """
    free = _MAX_WARMED_BYTES
    for path, query, body in before.recent_bodies():
        if free < 0 or not goes_on():
            return
        began = time.monotonic()
        free -= body.cost
        ask(inside, path, query, build.id, gzip=body.is_gzipped)
        time.sleep(time.monotonic() - began)
