"""The headers between the shim and the nginx of `edge_auth/nginx`, which answers requests from its memory.

They are read only on a unix socket, which only nginx reaches. nginx removes those that clients send.
"""

from typing import TYPE_CHECKING

from edge_auth.core.request import Answer
from edge_auth.host.metrics import NO_LABEL

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_FETCH = "fetch "


def fetches(environ: "WSGIEnvironment") -> bool:
    """Return whether nginx itself asks, for an answer to keep. No client has sent this request."""
    return str(environ.get("HTTP_X_EDGE_BUILD", "")).startswith(_FETCH)


def describe(answer: Answer, environ: "WSGIEnvironment") -> None:
    """Tell nginx the endpoint of an answer. Let it keep one that comes from the build that it has asked for."""
    answer.headers["X-Edge-Endpoint"] = answer.endpoint or NO_LABEL
    build = str(environ.get("HTTP_X_EDGE_BUILD", "")).removeprefix(_FETCH)
    if answer.shared_scope and build and answer.status in (200, 304) and answer.headers.get("X-Build") == build:
        answer.headers["X-Edge-Scope"] = answer.shared_scope
