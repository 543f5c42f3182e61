"""Turns: one request of a process runs at a time, and while it waits for a slow job the next one runs.

Threads that compute at the same time take turns at the interpreter every 5 ms, which makes the slowest answers slower.
But on a single thread a request that opens a build would delay all others.
"""

import sys
import time
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock, local
from typing import TYPE_CHECKING

from edge_auth.errors import RateLimited

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_TURN_SECONDS, _USUAL_TURN_SECONDS = 0.0005, sys.getswitchinterval()  # usually 5 ms
_RETRY_SECONDS = 5
_PAUSING_SECONDS = 2.0  # a new build must be in force within five seconds


class Turns:
    """The turns of the requests of a process.

    Args:
        max_places: For how many slow jobs requests may wait at a time. Others are left for requests that do not wait.
    """

    def __init__(self, max_places: int):
        self._turn = Lock()
        self._max_places = max_places
        self._waiting: Counter[Hashable] = Counter()  # by place; only the thread that has the turn changes it
        self._thread = local()

    def __enter__(self) -> None:
        self._turn.acquire()
        self._thread.has_turn = True

    def __exit__(self, *error: object) -> None:
        self._thread.has_turn = False
        self._turn.release()

    @contextmanager
    def waiting(self, job: Hashable = None) -> Iterator[None]:
        """Let other requests run while this one waits. Without a turn, do nothing.

        Args:
            job: What the request waits for. All that wait for the same job take one place; None takes its own.

        Raises:
            RateLimited: Requests wait for too many jobs already.
        """
        if not getattr(self._thread, "has_turn", False):
            yield
            return
        place = object() if job is None else job
        if place not in self._waiting and len(self._waiting) >= self._max_places:
            raise _refusal()
        self._waiting[place] += 1
        self._turn.release()
        try:
            yield
        finally:
            self._turn.acquire()
            self._waiting[place] -= 1
            self._waiting += Counter()  # drops places where no request waits any more


def _refusal() -> RateLimited:
    message = f"too many requests wait for slow work at the same time: wait {_RETRY_SECONDS} seconds"
    return RateLimited(message, Retry_After=str(_RETRY_SECONDS))


class Background:
    """A context for work beside requests. Several threads may be in it."""

    def __init__(self) -> None:
        self._users = 0
        self._lock = Lock()
        self._pauses_until = 0.0

    def __enter__(self) -> None:
        self._pauses_until = time.monotonic() + _PAUSING_SECONDS
        self._add(1)

    def __exit__(self, *error: object) -> None:
        self._add(-1)

    def _add(self, number: int) -> None:
        with self._lock:
            self._users += number
            sys.setswitchinterval(_TURN_SECONDS if self._users else _USUAL_TURN_SECONDS)

    def pause(self, seconds: float) -> None:
        """Sleep for so many seconds in this context, but not after its first seconds."""
        if self._users and time.monotonic() < self._pauses_until:
            time.sleep(seconds)


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
