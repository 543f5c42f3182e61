"""A limit on the reads that clients can cause with unknown keys and unknown builds."""

from threading import Lock
from time import monotonic


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

    def has_one(self) -> bool:
        """Return whether the rate allows one more."""
        with self._lock:
            return self._earned() >= 1

    def spend(self) -> None:
        """Count one more, whether the rate allows it or not."""
        with self._lock:
            self._left -= 1

    def _earned(self) -> float:
        now = monotonic()
        self._left = min(self._burst, self._left + (now - self._counted_at) * self._per_second)
        self._counted_at = now
        return self._left
