"""The build ids that clients made up: few look-ups in the store, little memory."""

import time
from collections.abc import Callable, Collection
from math import inf
from threading import Lock

from edge_auth.builds import layout
from edge_auth.errors import UnknownBuild

_REMEMBERED_SECONDS = 5.0
_MAX_REMEMBERED = 1000
_MAX_LOOKUPS_PER_SECOND, _MAX_BURST = 10, 150
_LISTED_SECONDS = 1.0


class UnknownBuilds:
    """The ids that the store did not hold some seconds ago, and how many more may be looked up.

    Once clients have used up the look-ups, a list of the builds in the store decides, read at most once a second.

    Args:
        list_ids: Reads the ids of all builds in the store.
    """

    def __init__(self, list_ids: Callable[[], Collection[str]]) -> None:
        self._list_ids = list_ids
        self._listed: Collection[str] = ()
        self._listed_at = -inf
        self._until: dict[str, float] = {}
        self._lookups_left, self._counted_at = float(_MAX_BURST), time.monotonic()
        self._lock = Lock()

    def check(self, id_: str) -> None:
        """Return if an id may be looked up in the store.

        Raises:
            UnknownBuild: It is no build id, or the store did not hold it a moment ago.
            StoreError: The builds of the store cannot be listed.
        """
        layout.record_name(id_)
        now = time.monotonic()
        if now < self._until.get(id_, 0.0) or not (self._has_lookups(now) or id_ in self._kept(now)):
            raise UnknownBuild(f"the store does not hold build {id_}")

    def add(self, id_: str) -> None:
        """Remember that the store does not hold an id, which took one look-up."""
        with self._lock:
            self._lookups_left -= 1
            if len(self._until) >= _MAX_REMEMBERED:
                self._until.clear()
            self._until[id_] = time.monotonic() + _REMEMBERED_SECONDS

    def _has_lookups(self, now: float) -> bool:
        with self._lock:
            gained = (now - self._counted_at) * _MAX_LOOKUPS_PER_SECOND
            self._lookups_left, self._counted_at = min(_MAX_BURST, self._lookups_left + gained), now
            return self._lookups_left >= 1

    def _kept(self, now: float) -> Collection[str]:
        if now > self._listed_at + _LISTED_SECONDS:
            self._listed, self._listed_at = self._list_ids(), now
        return self._listed
