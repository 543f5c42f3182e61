"""What a worker puts around the application: requests take turns, and connections close before the server ends."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class TakingTurns:
    """Admits a request while it is answered. A body in chunks is sent after that.

    Args:
        free: The path whose requests need no turn.
    """

    def __init__(self, application: "WSGIApplication", turns: AbstractContextManager[object], free: str):
        self._application = application
        self._turns = turns
        self._free = free

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Answer a WSGI request."""
        if environ["PATH_INFO"] == self._free:
            return self._application(environ, start_response)
        with self._turns:
            return self._application(environ, start_response)


class ClosingWhenDraining:
    """Adds `Connection: close` to every answer while the server is about to end, so that clients connect elsewhere."""

    def __init__(self, application: "WSGIApplication", draining: object):
        self._application = application
        self._draining = draining

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Answer a WSGI request."""
        if not self._draining:
            return self._application(environ, start_response)

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            return start_response(status, [*headers, ("Connection", "close")], *more)

        return self._application(environ, start)
