"""Work that requests wait for, such as reads of a store across a network: shared, concurrent, with a deadline.

Requests that need the same object share one read. After two requests in a row missed a deadline or were slow to fail,
a few requests at a time try the store. The others fail at once, so they do not occupy the threads that requests with
cached answers need. One such failure among successes limits nothing, since a store that throttles answers most. Each
request that succeeds doubles how many may try. If none succeeds, the next few try after a second.
"""

import random
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from math import inf
from threading import Lock, local
from time import monotonic
from typing import Any, NamedTuple, TypeVar, cast

from edge_auth.errors import DamagedObject, StoreError, Throttled
from edge_auth.live.turns import Turns
from edge_auth.store.interface import Digest, Span, Store

REQUEST_TIMEOUT_SECONDS = 5.0
_MAX_THREADS = 24
_SLOW_SECONDS = 1.0  # after which a failure is a slow one
_FEW = 4
_PAUSE_SECONDS = 1.0
T = TypeVar("T")
# Ranges of an object that are this close are fetched together: another request would take longer than the extra bytes.
_MAX_GAP_BYTES = 32 << 10
_PAUSES_SECONDS = (0.2, 0.4, 0.8)  # at most, after a read that boto3 has tried twice


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
        except StoreError as error:
            if error.seconds > _SLOW_SECONDS and not isinstance(error, DamagedObject):  # damage says nothing of speed
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
        return self.begin(key, job).result()

    def begin(self, key: Hashable, job: Callable[[], T]) -> "Future[T]":
        """As `run`, but do not wait for the result."""
        with self._lock:
            return self._running.get(key) or self._start(key, job, inf)

    def _start(self, key: Hashable, job: Callable[[], T], deadline: float) -> "Future[T]":
        self._running[key] = future = self._pool.submit(self._run_job, key, job, deadline)
        return future

    def _run_job(self, key: Hashable, job: Callable[[], T], deadline: float) -> T:
        began = monotonic()
        try:
            if began > deadline:  # otherwise jobs pile up while a store hangs, and delay its recovery
                raise StoreError("the store was too slow to begin this read in time")
            return job()
        except StoreError as error:
            error.seconds = monotonic() - began
            raise
        finally:
            with self._lock:
                self._running.pop(key, None)
            self._after_job()


class _Range(NamedTuple):
    """A range of an object, from `start` to before `end`."""

    name: str
    start: int
    end: int


class CoalescingStore:
    """A store whose reads go through a `SingleFlight`. Other methods are those of the store itself."""

    def __init__(self, store: Store, single_flight: SingleFlight):
        self._store = store
        self._single_flight = single_flight

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Return an object, or `length` bytes of it from `offset`."""
        read = partial(_patiently, self._store.get, name, offset, length)
        return self._single_flight.get({(name, offset, length): read})[0]

    def get_many(self, spans: Sequence[Span]) -> list[bytes]:
        """Return several ranges in input order."""
        ranges = _coalesce(spans)
        jobs = {
            (name, start, end): partial(_patiently, self._store.get, name, start, end - start)
            for name, start, end in ranges
        }
        fetched = dict(zip(ranges, self._single_flight.get(jobs), strict=True))
        return [_cut(fetched, *span) for span in spans]

    def stat(self, name: str) -> int | None:
        """Return the size of an object in bytes, or None if it does not exist."""
        return self._single_flight.get({("stat", name): partial(_patiently, self._store.stat, name)})[0]

    def digest(self, name: str) -> Digest | None:
        """Return the size and hash of an object, or None."""
        return self._single_flight.get({("digest", name): partial(_patiently, self._store.digest, name)})[0]


def with_deadline(store: Store, single_flight: SingleFlight) -> Store:
    """Return a store whose reads have a deadline. A folder is returned unchanged, since it needs no waiting."""
    if store.local_path(""):
        return store
    return cast("Store", CoalescingStore(store, single_flight))  # its other methods come from __getattr__


def _patiently(read: Callable[..., T], *arguments: object) -> T:
    """Return the result of a read. If the store throttles, read again after pauses that grow."""
    for pause in _PAUSES_SECONDS:
        try:
            return read(*arguments)
        except Throttled:
            time.sleep(random.uniform(0, pause))  # random, so that requests do not come back in step
    return read(*arguments)


def _coalesce(spans: Sequence[Span]) -> list[_Range]:
    """Return the ranges to fetch for some spans, with neighbouring spans in one range."""
    ranges: list[_Range] = []
    for name, offset, length in sorted(spans):
        last = ranges[-1] if ranges else None
        if last and last.name == name and offset - last.end <= _MAX_GAP_BYTES:
            ranges[-1] = _Range(name, last.start, max(last.end, offset + length))
        else:
            ranges.append(_Range(name, offset, offset + length))
    return ranges


def _cut(fetched: dict[_Range, bytes], name: str, offset: int, length: int) -> bytes:
    """Return a span from the range that contains it."""
    for range_, data in fetched.items():
        if range_.name == name and range_.start <= offset and offset + length <= range_.end:
            return data[offset - range_.start : offset - range_.start + length]
    raise AssertionError("unreachable")
