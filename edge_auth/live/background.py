"""What runs beside requests, in the process of these requests: polls of a store, and jobs that requests share."""

import os
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import BoundedSemaphore, Condition, Event, Lock, Thread
from typing import Any, Generic, TypeVar
from weakref import WeakMethod

from edge_auth.errors import RateLimited
from generator.storage.errors import StoreError

POLL_SECONDS = 1.0
WAIT_SECONDS = 5.0
_OLD_SECONDS = 5.0  # within which a change of a key or of the pointer is in force
_PAUSE_SECONDS = 0.1  # between two polls that requests cause
_MAX_JOBS = 4
_REFUSAL_SECONDS = 5  # until a request for which there is no place may come again
T = TypeVar("T")


def busy(why: str) -> RateLimited:
    """Return the refusal of a request for which there is no place."""
    return RateLimited(f"{why}: wait {_REFUSAL_SECONDS} seconds", Retry_After=str(_REFUSAL_SECONDS))


class OfProcess(Generic[T]):
    """What each process makes at its first use, and anew after a fork."""

    def __init__(self, make: Callable[[], T]):
        self._make = make
        self._made: tuple[int, T] | None = None
        self._locks: dict[int, Lock] = {}

    def __call__(self) -> T:
        made, process = self._made, os.getpid()
        if made is not None and made[0] == process:
            return made[1]
        with self._locks.setdefault(process, Lock()):  # one that was held at the fork stays so in the child
            if self._made is None or self._made[0] != process:
                self._made = process, self._make()
            return self._made[1]


class Poller:
    """A thread that calls a method at an interval and after `refresh`, while the object lives.

    The method never raises. It returns False if it could not read what it is to look at.
    """

    def __init__(self, poll: Callable[[], object], interval_seconds: float = POLL_SECONDS):
        self._poll = WeakMethod(poll)
        self._interval_seconds = interval_seconds
        self._requested = Event()
        self._ended = Condition()
        self._started_at = -1.0  # the last call that has ended
        self._failed = False
        Thread(target=self._run, daemon=True, name="poller").start()

    def refresh(self, timeout_seconds: float) -> None:
        """Poll soon, and wait until the first call, or one that began after this, has ended, or for the timeout."""
        requested_at = _now() if self._started_at >= 0 else 0.0
        self._requested.set()
        with self._ended:
            self._ended.wait_for(lambda: self._started_at >= requested_at, timeout_seconds)

    def renew(self) -> None:
        """Poll first if the last call is older than it may be: the process was stopped, or its server runs no threads.

        A store that fails delays no request.
        """
        if _now() > self._started_at + _OLD_SECONDS and not self._failed:
            self.refresh(WAIT_SECONDS)

    def _run(self) -> None:
        while True:
            self._requested.clear()
            started_at = _now()
            if (poll := self._poll()) is None:
                return
            failed = poll() is False
            del poll  # or the thread would keep the method's object alive while it waits
            with self._ended:
                self._started_at, self._failed = started_at, failed
                self._ended.notify_all()
            time.sleep(min(_PAUSE_SECONDS, self._interval_seconds))
            self._requested.wait(self._interval_seconds - _PAUSE_SECONDS)


def _now() -> float:
    """Return the seconds on a clock that goes on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Jobs:
    """Slow work that requests need, such as opening a build. Those who need the same share it.

    Some requests may wait at a time, for some seconds. The job goes on, and a later request finds its result.
    """

    def __init__(self, seconds: float = WAIT_SECONDS, max_waiting: int = 8):
        self.seconds = seconds
        self._places = BoundedSemaphore(max_waiting)
        self._pool = ThreadPoolExecutor(_MAX_JOBS, "job")
        self._running: dict[Hashable, Future[Any]] = {}
        self._lock = Lock()

    def wait_for(self, key: Hashable, job: Callable[[], T], late: Exception | None = None) -> T:
        """Return the result of a job. Raise `late` or StoreError if it takes long, RateLimited if too many wait."""
        if not self._places.acquire(blocking=False):
            raise busy("too many requests wait for slow work at the same time")
        try:
            with self._lock:
                found = self._running.get(key)
                if found is None:
                    found = self._running[key] = self._pool.submit(job)
                    found.add_done_callback(lambda _: self._running.pop(key, None))
            result: T = found.result(self.seconds)
            return result
        except TimeoutError:
            raise late or StoreError(f"the work for this request takes longer than {self.seconds:g} s") from None
        finally:
            self._places.release()
