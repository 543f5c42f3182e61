"""Turns: one request of a process runs at a time, and while it waits for a slow job the next one runs.

Threads that compute at the same time take turns at the interpreter every 5 ms, which makes the slowest answers slower.
But on a single thread a request that opens a build would delay all others.
"""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from threading import Lock, local

from edge_auth.errors import StoreError


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
            StoreError: Requests wait for too many jobs already.
        """
        if not getattr(self._thread, "has_turn", False):
            yield
            return
        place = object() if job is None else job
        if place not in self._waiting and len(self._waiting) >= self._max_places:
            raise StoreError("requests wait for too many slow jobs")
        self._waiting[place] += 1
        self._turn.release()
        try:
            yield
        finally:
            self._turn.acquire()
            self._waiting[place] -= 1
            self._waiting += Counter()  # drops places where no request waits any more
