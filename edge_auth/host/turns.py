"""Turns: one request of a process runs at a time, and while it waits for a slow job the next one runs.

Threads that compute at the same time take turns at the interpreter every 5 ms, which makes the slowest answers slower.
But on a single thread a request that opens a build would delay all others.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Semaphore, local

from edge_auth.errors import StoreError


class Turns:
    """The turns of the requests of a process.

    Args:
        max_waiting: How many requests may wait for slow jobs. The other threads are left for requests that do not wait.
    """

    def __init__(self, max_waiting: int):
        self._turn = Lock()
        self._free = Semaphore(max_waiting)
        self._thread = local()

    def __enter__(self) -> None:
        self._turn.acquire()
        self._thread.has_turn = True

    def __exit__(self, *error: object) -> None:
        self._thread.has_turn = False
        self._turn.release()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let other requests run while this one waits. Without a turn, do nothing.

        Raises:
            StoreError: Too many requests wait already.
        """
        if not getattr(self._thread, "has_turn", False):
            yield
            return
        if not self._free.acquire(blocking=False):
            raise StoreError("too many requests wait for slow work")
        self._turn.release()
        try:
            yield
        finally:
            self._turn.acquire()
            self._free.release()
