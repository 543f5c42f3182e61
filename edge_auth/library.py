"""The builds at hand: which one is live, those opened, and what is worked out once per build.

The pointer is read at most every POLL seconds. A request asks once which build answers it and reads from that
one alone, so no answer mixes builds.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cached_property
from itertools import count
from threading import RLock
from time import monotonic
from typing import Any

from edge_auth.bodies import Body, Cache
from edge_auth.contract import builds, names, pages
from edge_auth.contract.catalogue import Columns
from edge_auth.contract.copies import Copies
from edge_auth.contract.store import Store
from edge_auth.contract.text import fold
from edge_auth.errors import EdgeError, StoreError, UnknownBuild
from edge_auth.log import Log
from edge_auth.metrics import Metrics
from edge_auth.slugs import Slugs

POLL = 1.5
_MOST_OPEN = 4
_CACHE_BYTES = 48 << 20


class Opened:
    """A build, its search index and its short lists, each read when first asked for."""

    def __init__(self, build: builds.Build, cache: Cache, metrics: Metrics):
        self.build = build
        self._cache = cache
        self._metrics = metrics

    @cached_property
    def columns(self) -> Columns:
        return Columns(self.build.layers[names.CATALOGUE])

    @cached_property
    def sets(self) -> list[tuple[bytes, str]]:
        """Every Set in the list's order: its JSON line, and its name folded."""
        return [(line, fold(json.loads(line)["name"])) for line in self._lines(names.sets_page)]

    @cached_property
    def watchlist(self) -> list[bytes]:
        """Every WatchlistItem, one JSON line each, in the list's order."""
        return self._lines(names.watchlist_page)

    @cached_property
    def slugs(self) -> Slugs:
        return Slugs(self.watchlist)

    def read(self, key: str) -> bytes:
        """The JSON of an object that every build has.

        Raises:
            StoreError: this one has not.
        """
        data = self.build.get(key)
        if data is None:
            raise StoreError(f"build {self.build.id} has no {key}")
        return data

    def stored(self, key: str) -> Body:
        """The body of an object that goes out as it is. Raises StoreError where the build has no such object."""
        found = self.build.find(key)
        if found is None:
            raise StoreError(f"build {self.build.id} has no {key}")
        return Body.stored(*found, names.media_type(key))

    def body(self, asked: Hashable, make: Callable[[], Body]) -> Body:
        """The body that `make` gives for what is asked of this build, from the cache if it is still there."""
        return self.kept(asked, make, lambda body: body.cost)

    def kept(self, key: Hashable, make: Callable[[], Any], cost: Callable[[Any], int]) -> Any:
        """What `make` gave for this build and key, from the cache if it is still there."""
        value = self._cache.get((self.build.id, key))
        self._metrics.cache(value is not None)
        if value is None:
            value = make()
            self._cache.put((self.build.id, key), value, cost(value))
        return value

    def _lines(self, page_key: Callable[[int], str]) -> list[bytes]:
        lines: list[bytes] = []
        for number in count():
            page = self.build.get(page_key(number))
            if page is None:
                return lines
            lines += pages.split_page(page)
        raise AssertionError("unreachable")


class Library:
    """The builds of a store as a shim sees them."""

    def __init__(self, store: Store, copies: Copies, log: Log, metrics: Metrics, poll: float = POLL):
        self._store = store
        self._copies = copies
        self._log = log
        self._metrics = metrics
        self._poll = poll
        self._cache = Cache(_CACHE_BYTES)
        self._open: OrderedDict[str, Opened] = OrderedDict()
        self._checked: dict[str, float] = {}
        self._live: Opened | None = None
        self._next_look = 0.0
        self._trouble = ""
        self._lock = RLock()

    def opened(self, pin: str | None = None) -> Opened:
        """The live build, or the one that a request asks for.

        Raises:
            UnknownBuild: the store does not keep it.
            StoreError: no build is live, or it cannot be read.
        """
        live = self._look() if monotonic() >= self._next_look or self._live is None else self._live
        return live if pin is None or pin == live.build.id else self._pinned(pin)

    def has_moved_on(self, from_: Opened, pin: str | None) -> bool:
        """Look at the store anew: whether a request answered from `from_` would now be answered otherwise.

        A build may be pruned while a request reads it, or before this shim hears that another is live.
        """
        self._next_look = 0.0
        self._checked.pop(from_.build.id, None)
        try:
            return self.opened(pin) is not from_
        except UnknownBuild:
            return True

    def _look(self) -> Opened:
        """Read the pointer; where it or its build cannot be read, the build at hand goes on to serve."""
        # One thread looks; the others go on with the build at hand rather than wait.
        if not self._lock.acquire(blocking=self._live is None):
            return self._live  # type: ignore[return-value]
        try:
            before, self._live = self._live, self._opened(builds.live_build_id(self._store))
            self._trouble = ""
            if self._live is not before:
                self._metrics.live(self._live.build.record)
        except EdgeError as error:
            if self._live is None:
                raise StoreError(str(error)) from error
            if str(error) != self._trouble:
                self._log.line(f"the pointer cannot be followed, build {self._live.build.id} serves on: {error}")
            self._trouble = str(error)
        finally:
            self._next_look = monotonic() + self._poll
            self._lock.release()
        return self._live

    def _pinned(self, id_: str) -> Opened:
        with self._lock:
            if monotonic() >= self._checked.get(id_, 0.0):
                if self._store.stat(builds.record_name(id_)) is None:
                    self._open.pop(id_, None)
                    raise UnknownBuild(f"build {id_} is not in {self._store.location}")
                self._checked[id_] = monotonic() + self._poll
            return self._opened(id_)

    def _opened(self, id_: str) -> Opened:
        opened = self._open.pop(id_, None)
        if opened is None:
            opened = Opened(builds.open_build(self._store, id_, self._copies), self._cache, self._metrics)
        self._open[id_] = opened
        while len(self._open) > _MOST_OPEN:
            gone, _ = self._open.popitem(last=False)
            self._checked.pop(gone, None)
        return opened
