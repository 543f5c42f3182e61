"""The answers that clients had from one build lately, made from another build before that goes live."""

import time
from collections.abc import Callable
from contextlib import suppress

from edge_auth.api.routes import route
from edge_auth.api.sources import FromBuild
from edge_auth.errors import ApiError
from edge_auth.live.open_build import OpenBuild

_MAX_BYTES = 8 << 20  # half of the cache, which the answers of the build before need until then


def warm(build: OpenBuild, before: OpenBuild, goes_on: Callable[[], bool]) -> None:
    """Put the answers that clients had from the build before into the cache of a build, the latest first.

    They are compressed if a client wanted them so. It pauses after each answer for as long
    as the answer took.

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
        with suppress(ApiError):  # there is no such card any more
            free -= _make(build, path, query, compress=body.is_gzipped)
        time.sleep(time.monotonic() - began)


def _make(build: OpenBuild, path: bytes, query: str, *, compress: bool) -> int:
    """Make an answer, unless it is a page. Return its bytes in the cache."""
    endpoint, subject = route(path)
    source = endpoint.source
    if endpoint.shared_scope is None or not isinstance(source, FromBuild):
        return 0
    body = build.cached_body(path, query, lambda: source.make_body(build, endpoint, subject, query))
    return body.cost + (len(body.gzipped) if compress else 0)
