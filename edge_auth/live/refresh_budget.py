"""A limit on the reads that clients can cause with unknown keys and unknown builds."""

from threading import Lock
from time import monotonic

_MAX_REFRESHES_PER_SECOND = 10  # also the size of a burst


class RefreshBudget:
    """A rate of refreshes that is not exceeded."""

    def __init__(self) -> None:
        self._left, self._counted_at = float(_MAX_REFRESHES_PER_SECOND), monotonic()
        self._lock = Lock()

    def take(self) -> bool:
        """Return whether the rate allows another refresh, and count it."""
        with self._lock:
            now = monotonic()
            gained = (now - self._counted_at) * _MAX_REFRESHES_PER_SECOND
            self._left = min(_MAX_REFRESHES_PER_SECOND, self._left + gained)
            self._counted_at = now
            if self._left < 1:
                return False
            self._left -= 1
            return True
