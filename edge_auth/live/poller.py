"""A thread that polls the store, so that requests do not wait for a slow one, and a limit on reads that clients cause.

Clients cause reads with unknown keys and unknown builds.
"""

from collections.abc import Callable
from threading import Condition, Event, Lock, Thread
from time import monotonic
from weakref import WeakMethod

POLL_SECONDS = 1.0
MAX_REFRESHES_PER_SECOND = 10  # that clients can cause


class Poller:
    """A thread that calls `poll` at an interval, and at once after `refresh`.

    Args:
        poll: A method that does not raise. The thread ends when the method's object is gone.
        interval_seconds: Time between the end of a call and the next one.
    """

    def __init__(self, poll: Callable[[], object], interval_seconds: float = POLL_SECONDS):
        self._poll = WeakMethod(poll)
        self._interval_seconds = interval_seconds
        self._requested = Event()
        self._ended = Condition()
        self._started_at = -1.0
        Thread(target=self._run, daemon=True, name="poller").start()

    @property
    def requested(self) -> bool:
        """Whether a refresh was requested and has not begun."""
        return self._requested.is_set()

    def refresh(self, timeout_seconds: float) -> bool:
        """Poll now. Return whether a call that began after this one ended within the timeout."""
        requested_at = monotonic()
        self._requested.set()
        with self._ended:
            return self._ended.wait_for(lambda: self._started_at >= requested_at, timeout_seconds)

    def _run(self) -> None:
        while True:
            self._requested.clear()
            started_at = monotonic()
            poll = self._poll()
            if poll is None:
                return
            poll()
            del poll  # or the thread would keep the method's object alive while it waits
            with self._ended:
                self._started_at = started_at
                self._ended.notify_all()
            self._requested.wait(self._interval_seconds)


class Budget:
    """A rate that is not exceeded, after a burst.

    Args:
        per_second: How many a second.
        burst: How many at once, after a pause.
    """

    def __init__(self, per_second: float, burst: float):
        self._per_second, self._burst = per_second, burst
        self._left, self._counted_at = float(burst), monotonic()
        self._lock = Lock()

    def take(self) -> bool:
        """Return whether the rate allows one more, and count it."""
        with self._lock:
            allowed = self._earned() >= 1
            self._left -= allowed
            return allowed

    def give_back(self) -> None:
        """Count the last one no more."""
        with self._lock:
            self._left += 1

    def _earned(self) -> float:
        now = monotonic()
        self._left = min(self._burst, self._left + (now - self._counted_at) * self._per_second)
        self._counted_at = now
        return self._left
