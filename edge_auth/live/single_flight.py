"""Work that requests wait for, such as reads of a store across a network: shared, concurrent, with a deadline.

Requests that need the same object share one read. After two requests in a row missed a deadline or were slow to fail,
a few requests at a time try the store. The others fail at once, so they do not occupy the threads that requests with
cached answers need. One such failure among successes limits nothing, since a store that throttles answers most. Each
request that succeeds doubles how many may try. If none succeeds, the next few try after a second.
"""

from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from math import inf
from threading import Lock, local
from time import monotonic
from typing import Any, TypeVar

from edge_auth.errors import StoreError
from edge_auth.live.turns import Turns

REQUEST_TIMEOUT_SECONDS = 5.0
_MAX_THREADS = 24
_SLOW_SECONDS = 1.0  # after which a failure is a slow one
_FEW = 4
_PAUSE_SECONDS = 1.0

T = TypeVar("T")


class SingleFlight:
    """The jobs that run in a process.

    Args:
        seconds: How long a request waits.
        after_job: Called after each job, by its thread.
        turns: The turns that waiting requests give up, if requests take turns.

    Attributes:
        waiting: Returns the context in which a request waits for a job, given by its key.
    """

    def __init__(
        self,
        seconds: float = REQUEST_TIMEOUT_SECONDS,
        after_job: Callable[[], None] = lambda: None,
        turns: Turns | None = None,
    ):
        self.seconds = seconds
        self.waiting: Callable[[Hashable], AbstractContextManager[object]] = (
            turns.waiting if turns is not None else nullcontext
        )
        self._after_job = after_job
        self._thread = local()
        self._pool = ThreadPoolExecutor(
            _MAX_THREADS, "store", initializer=lambda: setattr(self._thread, "in_pool", True)
        )
        self._running: dict[Hashable, Future[Any]] = {}
        self._max_trying = inf
        self._trying = 0
        self._slow_failures = 0  # since the last success
        self._next_try = 0.0
        self._lock = Lock()

    def get(self, jobs: Mapping[Any, Callable[[], T]]) -> list[T]:
        """Return the results of jobs by key. They run concurrently; a job whose key is running already is shared.

        Raises:
            StoreError: The jobs take too long. Exceptions of the jobs are raised too.
        """
        if getattr(self._thread, "in_pool", False):  # a job of a job: the outer job has the deadline
            return [job() for job in jobs.values()]
        started_at = monotonic()
        deadline = started_at + self.seconds
        with self._lock:
            tries = not jobs.keys() <= self._running.keys()
            if tries and (self._trying >= self._max_trying or started_at < self._next_try):
                raise StoreError("the store was too slow a moment ago")
            self._trying += tries
            futures = [self._running.get(key) or self._start(key, job, deadline) for key, job in jobs.items()]
        try:
            with self.waiting(tuple(jobs)):
                results = [future.result(deadline - monotonic()) for future in futures]
            self._succeeded()
            return results
        except TimeoutError:
            self._failed_slowly()
            raise StoreError(f"the store has not answered within {self.seconds:g} s") from None
        except StoreError:
            if monotonic() > started_at + _SLOW_SECONDS:
                self._failed_slowly()
            raise
        finally:
            with self._lock:
                self._trying -= tries

    def _succeeded(self) -> None:
        self._slow_failures, self._next_try = 0, 0.0
        self._max_trying = self._max_trying * 2 if self._max_trying < _MAX_THREADS else inf

    def _failed_slowly(self) -> None:
        self._slow_failures += 1
        if self._slow_failures > 1:
            self._max_trying = _FEW
        if self._slow_failures > 2:
            self._next_try = monotonic() + _PAUSE_SECONDS

    def run(self, key: Hashable, job: Callable[[], T]) -> T:
        """Return the result of a job in a thread of the pool, without a deadline. Share it if it is running already."""
        with self._lock:
            future: Future[T] = self._running.get(key) or self._start(key, job, inf)
        return future.result()

    def _start(self, key: Hashable, job: Callable[[], T], deadline: float) -> "Future[T]":
        self._running[key] = future = self._pool.submit(self._run_job, key, job, deadline)
        return future

    def _run_job(self, key: Hashable, job: Callable[[], T], deadline: float) -> T:
        try:
            if monotonic() > deadline:  # otherwise jobs pile up while a store hangs, and delay its recovery
                raise StoreError("the store was too slow to begin this read in time")
            return job()
        finally:
            with self._lock:
                self._running.pop(key, None)
            self._after_job()
