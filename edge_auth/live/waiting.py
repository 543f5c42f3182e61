"""Work that requests wait for, such as reads of a store across a network, and the turns that requests take meanwhile.

The work is shared, concurrent, and has a deadline. Requests that need the same object share one read. After two
requests in a row missed a deadline or were slow to fail, a few requests at a time try the store. The others fail at
once, so they do not occupy the threads that requests with cached answers need. One such failure among successes limits
nothing, since a store that throttles answers most. Each request that succeeds doubles how many may try. If none
succeeds, the next few try after a second.

With turns, one request of a process runs at a time, and while it waits for a slow job the next one runs. Threads that
compute at the same time take turns at the interpreter every 5 ms, which makes the slowest answers slower. But on a
single thread a request that opens a build would delay all others.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from math import inf
from threading import Lock, local
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from edge_auth.errors import DamagedObject, RateLimited, StoreError, Throttled
from edge_auth.store.interface import Digest, Span, Store

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

REQUEST_TIMEOUT_SECONDS = 5.0
_MAX_THREADS = 24
_SLOW_SECONDS = 1.0  # after which a failure is a slow one
_FEW = 4
_NEXT_TRY_SECONDS = 1.0
# Ranges of an object that are this close are fetched together: another request would take longer than the extra bytes.
_MAX_GAP_BYTES = 32 << 10
_PAUSES_SECONDS = (0.2, 0.4, 0.8)  # at most, after a read that boto3 has tried twice
_TURN_SECONDS, _USUAL_TURN_SECONDS = 0.0005, sys.getswitchinterval()  # usually 5 ms
_REFUSAL_SECONDS = 5  # until a request for which there is no place may come again
_BACKGROUND_PAUSING_SECONDS = 2.0  # a new build must be in force within five seconds
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
        turns: "Turns | None" = None,
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
            self._next_try = monotonic() + _NEXT_TRY_SECONDS

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


class _Range(NamedTuple):
    """A range of an object, from `start` to before `end`."""

    name: str
    start: int
    end: int


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
    message = f"too many requests wait for slow work at the same time: wait {_REFUSAL_SECONDS} seconds"
    return RateLimited(message, Retry_After=str(_REFUSAL_SECONDS))


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


class Background:
    """A context for work beside requests. Several threads may be in it."""

    def __init__(self) -> None:
        self._users = 0
        self._lock = Lock()
        self._pauses_until = 0.0

    def __enter__(self) -> None:
        self._pauses_until = time.monotonic() + _BACKGROUND_PAUSING_SECONDS
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
