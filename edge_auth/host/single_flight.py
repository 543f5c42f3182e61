"""Work that requests wait for, such as reads of a store in a network: shared, several at once, and never for long.

Whoever asks for what somebody else is fetching already waits for the same. A store that did not answer in time, or was
slow to fail, is asked by one request at a time, a second apart, until it answers; the others are told at once, so that
they hold up nobody whose answer is at hand.
"""

from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from math import inf
from threading import Lock, local
from time import monotonic
from typing import Any

from edge_auth.errors import StoreError

REQUEST_TIMEOUT_SECONDS = 5.0
_THREADS = 24
_PAUSE_SECONDS = 1.0


class SingleFlight:
    """The work under way in one process.

    Args:
        seconds: how long a request waits.
        after: called by the thread that has done a piece of work.
    """

    def __init__(self, seconds: float = REQUEST_TIMEOUT_SECONDS, after: Callable[[], None] = lambda: None):
        self.seconds = seconds
        self._after = after
        self._here = local()
        self._pool = ThreadPoolExecutor(_THREADS, "store", initializer=lambda: setattr(self._here, "in_pool", True))
        self._under_way: dict[Hashable, Future] = {}
        self._slow = False
        self._next_try = 0.0
        self._lock = Lock()

    def get(self, jobs: Mapping[Hashable, Callable[[], Any]]) -> list:
        """What the jobs give, each under its key; all are done at once, and none that is being done already.

        Raises:
            StoreError: they take too long. And whatever a job raises.
        """
        if getattr(self._here, "in_pool", False):  # what a job itself asks for: others wait for the job
            return [job() for job in jobs.values()]
        began = monotonic()
        latest = began + self.seconds
        with self._lock:
            if not jobs.keys() <= self._under_way.keys():
                self._admit(began)
            flights = [self._under_way.get(key) or self._start(key, job, latest) for key, job in jobs.items()]
        try:
            results = [flight.result(latest - monotonic()) for flight in flights]
            self._slow = False
            return results
        except TimeoutError:
            self._slow = True
            raise StoreError(f"the store has not answered within {self.seconds:g} s") from None
        except StoreError:
            self._slow = self._slow or monotonic() > began + _PAUSE_SECONDS
            raise
        finally:
            self._next_try = monotonic() + _PAUSE_SECONDS

    def run(self, job: Callable[[], Any]) -> Any:
        """What a job gives, however long it takes."""
        return self._pool.submit(self._done, None, job, inf).result()

    def _admit(self, now: float) -> None:
        if self._slow and now < self._next_try:
            raise StoreError("the store was too slow a moment ago")
        self._next_try = now + self.seconds  # until it is known how this one fares

    def _start(self, key: Hashable, job: Callable[[], Any], latest: float) -> Future:
        self._under_way[key] = flight = self._pool.submit(self._done, key, job, latest)
        return flight

    def _done(self, key: Hashable, job: Callable[[], Any], latest: float) -> Any:
        try:
            if monotonic() > latest:  # else a store that hangs leaves ever more to do for when it is back
                raise StoreError("the store was too slow for this to be begun in time")
            return job()
        finally:
            with self._lock:
                self._under_way.pop(key, None)
            self._after()
