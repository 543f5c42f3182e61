"""The answers that are made before a build goes live: those that clients had lately."""

import time
from collections.abc import Callable
from contextlib import suppress

from werkzeug.exceptions import HTTPException

from edge_auth.api.flask_app import ApiFlask
from edge_auth.api.routes import Route, make_body
from edge_auth.builds.bodies import Body
from edge_auth.errors import ApiError, NotFound
from edge_auth.live.open_build import OpenBuild

_MAX_WARMED_BYTES = 8 << 20  # half of the cache, which the answers of the build before need until then


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
            body = _made(app, build, path, query)
            _ = body.gzipped if old.is_gzipped else body
        time.sleep(time.monotonic() - began)


def _made(app: ApiFlask, build: OpenBuild, path: bytes, query: str) -> Body:
    """Return what a build answers to a path, percent-decoded, and a query.

    Raises:
        ApiError: No build answers this path, or as for `make_body`.
        StoreError: The store failed.
    """
    try:
        name, arguments = app.adapter("GET", path.decode("latin-1")).match()
    except HTTPException:
        name, arguments = "", {}
    route = app.view_functions.get(name)
    if not isinstance(route, Route) or not route.endpoint.of_build:
        raise NotFound("no build answers this path")
    return make_body(build, route.endpoint, arguments, path, query)
