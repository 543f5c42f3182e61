"""What the shim and the nginx of `edge_auth/nginx` say to each other, and the answers that are made before a switch.

That nginx answers requests from its memory. The two use headers, which are read only on a unix socket that only nginx
reaches. nginx removes those that clients send.

Before a switch nginx asks for several answers at once: the body of its request has a line for each, with the encoding
(`gzip` or `plain`) and the address. It gets them in this order, as HTTP/1.1 would send them. They are neither counted
nor logged.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import cast
from urllib.parse import unquote_to_bytes

from flask import current_app
from werkzeug.exceptions import HTTPException

from edge_auth.api.endpoint import Endpoint
from edge_auth.api.extension import NAME, Cardpress
from edge_auth.api.flask_app import ApiFlask, this_request
from edge_auth.api.responses import Answer, edge_headers, failure, refusal
from edge_auth.api.routes import Route, make_body
from edge_auth.builds.bodies import Body
from edge_auth.errors import ApiError, EdgeError, NotFound
from edge_auth.live.open_build import OpenBuild

_FETCH = "fetch "
_MAX_WARMED_BYTES = 8 << 20  # half of the cache, which the answers of the build before need until then


def answer_fetches() -> Answer | None:
    """Answer a request of nginx itself."""
    request, service = this_request(), current_app.extensions[NAME]
    named: str = request.environ.get("HTTP_X_EDGE_BUILD", "")
    if not named.startswith(_FETCH):
        return None
    request.routing_exception = None  # no client has asked: `finish` notes nothing
    try:
        build = service.builds.select(named.removeprefix(_FETCH))
    except EdgeError as error:  # perhaps it is still being opened
        return failure(str(error))
    size = int(request.environ.get("CONTENT_LENGTH") or 0)
    lines: list[str] = request.environ["wsgi.input"].read(size).decode("latin-1").split("\n")
    text = b"".join(_fetched(service, build, line).text() for line in lines if line)
    return Answer(200, {"Content-Type": "application/http", "Content-Length": str(len(text))}, text)


def _fetched(service: Cardpress, build: OpenBuild, line: str) -> Answer:
    encoding, _, address = line.partition(" ")
    path, _, query = address.partition("?")
    app, gzip = cast("ApiFlask", current_app), encoding == "gzip"
    try:
        endpoint, body = _made(app, build, unquote_to_bytes(path), query)
        of_endpoint = endpoint.shared_headers if service.behind_cdn else endpoint.headers
        fields = {**of_endpoint, **body.headers(gzip), "X-Build": build.id, **edge_headers(endpoint)}
        return Answer(200, fields, body.gzipped if gzip else body.inflated())
    except ApiError as error:
        return refusal(error)
    except Exception as error:  # nginx waits for an answer to each line, and keeps none like this
        if service.log is not None:
            service.log.failure("GET", path.encode("latin-1"), this_request().id, error)
        return failure("something failed here; try again later")


def _made(app: ApiFlask, build: OpenBuild, path: bytes, query: str) -> tuple[Endpoint, Body]:
    """Return the endpoint of a path, percent-decoded, and what a build answers there.

    Raises:
        ApiError: There is no such path, or as for `make_body`.
        StoreError: The store failed.
    """
    try:
        name, arguments = app.adapter("GET", path.decode("latin-1")).match()
    except HTTPException:
        name, arguments = "", {}
    route = app.view_functions.get(name)
    if not isinstance(route, Route) or not route.endpoint.of_build:
        raise NotFound("no build answers this path")
    body = build.kept_body(path, query)
    return route.endpoint, body or make_body(build, route.endpoint, {**route.given, **arguments}, path, query)


def warm(app: ApiFlask, build: OpenBuild, before: OpenBuild, goes_on: Callable[[], bool]) -> None:
    """Put the answers that clients had from the build before into the cache of a build, the latest first.

    They are compressed if a client wanted them so. It pauses after each answer for as long as the answer took.

    Args:
        goes_on: Returns whether there is time for one more answer.

    Raises:
        StoreError: The store failed.
    """
    free = _MAX_WARMED_BYTES
    for path, query, old in before.recent_bodies():
        if free < 0 or not goes_on():
            return
        began = time.monotonic()
        free -= old.cost
        with suppress(ApiError):  # the build has no such answer
            _, body = _made(app, build, path, query)
            _ = body.gzipped if old.is_gzipped else body
        time.sleep(time.monotonic() - began)
