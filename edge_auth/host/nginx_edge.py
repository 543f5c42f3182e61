"""The headers between the shim and the nginx of `edge_auth/nginx`, which answers requests from its cache.

They are read only on a unix socket, which only nginx reaches. nginx removes those that clients send.
"""

from typing import TYPE_CHECKING

from edge_auth.core.rate_limit import Usage
from edge_auth.core.request import Answer

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_SECONDS_IN_CACHE = 86_400


def counted_usage(environ: "WSGIEnvironment") -> Usage | None:
    """Return the use of the limit after this request, if nginx counted it."""
    counted = environ.get("HTTP_X_EDGE_COUNTED", "")
    if not counted:
        return None
    limit, remaining, reset = map(int, counted.split())
    return Usage(limit, remaining, reset, True)


def allow_caching(answer: Answer, environ: "WSGIEnvironment") -> None:
    """Let nginx store an answer that comes from the build that it has asked for, and give it the scope."""
    build = environ.get("HTTP_X_EDGE_BUILD")
    if answer.shared_scope and build and answer.status == 200 and answer.headers.get("X-Build") == build:
        answer.headers["X-Accel-Expires"] = str(_SECONDS_IN_CACHE)
        answer.headers["X-Edge-Scope"] = answer.shared_scope
