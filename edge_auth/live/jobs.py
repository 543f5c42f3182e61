"""Slow work beside requests, such as opening a build, and the requests that wait for it."""

from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import BoundedSemaphore, Lock
from typing import Any, TypeVar

from edge_auth.errors import RateLimited, StoreError

WAIT_SECONDS = 5.0
_MAX_JOBS = 4
_REFUSAL_SECONDS = 5  # until a request for which there is no place may come again
T = TypeVar("T")


class Jobs:
    """The jobs of a process. Those who need the same one share it.

    Args:
        seconds: How long a request waits for a job. It goes on, and a later request finds its result.
        max_waiting: How many requests may wait at a time. The other threads are left for requests that do not wait.
    """

    def __init__(self, seconds: float = WAIT_SECONDS, max_waiting: int = 8):
        self.seconds = seconds
        self._places = BoundedSemaphore(max_waiting)
        self._pool = ThreadPoolExecutor(_MAX_JOBS, "job")
        self._own = ThreadPoolExecutor(1, "own job")
        self._running: dict[Hashable, Future[Any]] = {}
        self._lock = Lock()

    def run(self, key: Hashable, job: Callable[[], T]) -> T:
        """Return the result of a job, however long it takes. It does not wait for the jobs of requests."""
        return self._begin(key, job, self._own).result()

    def begin(self, key: Hashable, job: Callable[[], object]) -> None:
        """Begin a job whose result is not waited for."""
        self._begin(key, job, self._pool)

    def wait_for(self, key: Hashable, job: Callable[[], T]) -> T:
        """Return the result of a job that a request needs.

        Raises:
            StoreError: It takes too long.
            RateLimited: Too many requests wait already.
        """
        if not self._places.acquire(blocking=False):
            message = f"too many requests wait for slow work at the same time: wait {_REFUSAL_SECONDS} seconds"
            raise RateLimited(message, Retry_After=str(_REFUSAL_SECONDS))
        try:
            return self._begin(key, job, self._pool).result(self.seconds)
        except TimeoutError:
            raise StoreError(f"the work for this request takes longer than {self.seconds:g} s") from None
        finally:
            self._places.release()

    def _begin(self, key: Hashable, job: Callable[[], T], pool: ThreadPoolExecutor) -> "Future[T]":
        with self._lock:
            if key not in self._running:
                self._running[key] = pool.submit(self._run, key, job)
            return self._running[key]

    def _run(self, key: Hashable, job: Callable[[], T]) -> T:
        try:
            return job()
        finally:
            with self._lock:
                self._running.pop(key, None)
