"""This process asks its own API: an application without a door answers, in no other way than it answers clients."""

import time
from collections.abc import Callable
from typing import cast

from flask import Flask

from edge_auth.api.responses import Answer
from edge_auth.live.open_build import OpenBuild

_MAX_BYTES = 8 << 20  # half of the cache, which the answers of the build before need until then
_ENVIRON = {"REQUEST_METHOD": "GET", "SERVER_PROTOCOL": "HTTP/1.0"}


def ask(inside: Flask, path: bytes, query: str, build: str, *, gzip: bool) -> Answer:
    """Return the answer from a build.

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
    free = _MAX_BYTES
    for path, query, body in before.recent_bodies():
        if free < 0 or not goes_on():
            return
        began = time.monotonic()
        free -= body.cost
        ask(inside, path, query, build.id, gzip=body.is_gzipped)
        time.sleep(time.monotonic() - began)
