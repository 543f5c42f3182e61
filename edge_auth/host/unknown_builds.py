"""The build ids that clients made up: few look-ups in the store, little memory."""

import time
from threading import Lock

from edge_auth.contract import layout
from edge_auth.errors import StoreError, UnknownBuild

_REMEMBERED_SECONDS = 5.0
_MAX_REMEMBERED = 1000
_MAX_LOOKUPS_PER_SECOND, _MAX_BURST = 10, 150


class UnknownBuilds:
    """The ids that the store did not hold some seconds ago, and how many more may be looked up."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._lookups_left, self._counted_at = float(_MAX_BURST), time.monotonic()
        self._lock = Lock()

    def check(self, id_: str) -> None:
        """Return if an id may be looked up in the store.

        Raises:
            UnknownBuild: It is no build id, or the store did not hold it a moment ago.
            StoreError: Too many ids were unknown lately.
        """
        layout.record_name(id_)
        now = time.monotonic()
        if now < self._until.get(id_, 0.0):
            raise UnknownBuild(f"the store does not hold build {id_}")
        with self._lock:
            gained = (now - self._counted_at) * _MAX_LOOKUPS_PER_SECOND
            self._lookups_left, self._counted_at = min(_MAX_BURST, self._lookups_left + gained), now
            if self._lookups_left < 1:
                raise StoreError("too many builds that do not exist were asked for")

    def add(self, id_: str) -> None:
        """Remember that the store does not hold an id, which took one look-up."""
        with self._lock:
            self._lookups_left -= 1
            if len(self._until) >= _MAX_REMEMBERED:
                self._until.clear()
            self._until[id_] = time.monotonic() + _REMEMBERED_SECONDS
