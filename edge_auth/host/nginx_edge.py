"""The headers between the shim and the nginx of `edge_auth/nginx`, which answers requests from its memory.

They are read only on a unix socket, which only nginx reaches. nginx removes those that clients send.
"""

from typing import TYPE_CHECKING

from edge_auth.core.request import Answer

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_FETCH = "fetch "


def fetches(environ: "WSGIEnvironment") -> bool:
    """Return whether nginx itself asks, for an answer to keep. No client has sent this request."""
    return str(environ.get("HTTP_X_EDGE_BUILD", "")).startswith(_FETCH)


def allow_caching(answer: Answer, environ: "WSGIEnvironment") -> None:
    """Let nginx keep an answer that comes from the build that it has asked for, and give it the scope."""
    build = str(environ.get("HTTP_X_EDGE_BUILD", "")).removeprefix(_FETCH)
    if answer.shared_scope and build and answer.status in (200, 304) and answer.headers.get("X-Build") == build:
        answer.headers["X-Edge-Scope"] = answer.shared_scope
