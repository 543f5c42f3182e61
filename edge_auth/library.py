"""The builds at hand: which one is live, those opened, and what is worked out once per build.

A thread follows the pointer. It opens a new build and reads what every answer needs before that build answers, so a
request waits for the store at most once, for an object of its own. A request asks once which build answers it and reads
from that one alone, so no answer mixes builds.
"""

import json
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from itertools import count, takewhile
from time import monotonic
from typing import Any

from edge_auth.bodies import Body, Cache
from edge_auth.contract import builds, names, pages
from edge_auth.contract.catalogue import Catalogue
from edge_auth.contract.codec import decompress
from edge_auth.contract.copies import Copies
from edge_auth.contract.index import Entry
from edge_auth.contract.store import Store
from edge_auth.contract.text import fold
from edge_auth.errors import AccessDenied, StoreError, UnknownBuild
from edge_auth.flights import Flights
from edge_auth.log import Log
from edge_auth.metrics import Metrics
from edge_auth.remote import within_time
from edge_auth.slugs import Slugs
from edge_auth.watch import POLL, Watch

_MOST_PINNED = 4
_PINNED_SECONDS = 300
_NO_BUILD = "0000-00-00-000000000000"
_CACHE_BYTES = 16 << 20


class Opened:
    """A build, its catalogue and its short lists, each read when first asked for."""

    def __init__(self, build: builds.Build, cache: Cache, metrics: Metrics):
        self.build = build
        self.asked = monotonic()
        self.prepared = False
        self._cache = cache
        self._metrics = metrics

    def prepare(self) -> None:
        """Read what every answer needs. Raises StoreError where it cannot be read; what could be read stays."""
        self.catalogue.vocabulary, self.catalogue.rows  # noqa: B018  (cached properties)
        for layer in self.build.layers.values():
            layer.index  # noqa: B018
        self.sets, self.slugs  # noqa: B018
        self.prepared = True

    @cached_property
    def catalogue(self) -> Catalogue:
        return Catalogue(self.build.layers[names.CATALOGUE])

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

    def read_all(self, keys: Sequence[str]) -> list[bytes]:
        """The JSON of objects that every build has, asked for at once. Raises StoreError where this one has not."""
        return [decompress(data) for data in builds.stored_all([self._found(key) for key in keys])]

    def stored(self, key: str) -> Body:
        """The body of an object that goes out as it is. Raises StoreError where the build has no such object."""
        return Body.stored(*self._found(key), names.media_type(key))

    def body(self, path: bytes, query: str, make: Callable[[], Body]) -> Body:
        """The body that `make` gives for what is asked of this build, from the cache if it is still there."""
        return self.kept((path, query), make, lambda body: body.cost + len(path) + len(query))

    def kept(self, key: Hashable, make: Callable[[], Any], cost: Callable[[Any], int]) -> Any:
        """What `make` gave for this build and key, from the cache if it is still there."""
        value = self._cache.get((self.build.id, key))
        self._metrics.cache(value is not None)
        if value is None:
            value = make()
            self._cache.put((self.build.id, key), value, cost(value))
        return value

    def _found(self, key: str) -> tuple[builds.Layer, Entry]:
        found = self.build.find(key)
        if found is None:
            raise StoreError(f"build {self.build.id} has no {key}")
        return found

    def _lines(self, page_key: Callable[[int], str]) -> list[bytes]:
        keys = takewhile(self.build.find, map(page_key, count()))
        return [line for page in self.read_all(list(keys)) for line in pages.split_page(page)]


class Library:
    """The builds of a store as a shim sees them."""

    def __init__(self, store: Store, copies: Copies, flights: Flights, log: Log, metrics: Metrics, poll: float = POLL):
        self._store = within_time(store, flights)
        self._copies = copies
        self._flights = flights
        self._log = log
        self._metrics = metrics
        self._cache = Cache(_CACHE_BYTES)
        self._live: Opened | None = None
        self._pinned: dict[str, Opened] = {}
        self.trouble = ""
        self._watch = Watch(self._look, poll)

    def opened(self, pin: str | None = None) -> Opened:
        """The live build, or the one that a request asks for.

        Raises:
            UnknownBuild: the store does not keep it.
            StoreError: no build is live, or it cannot be read.
        """
        live = self._live
        if live is None:
            self._watch.now(self._flights.seconds)
            live = self._live
        if live is None:
            raise StoreError(self.trouble or "the live build is still being read")
        return live if pin in (None, live.build.id) else self._asked_for(pin)

    def has_moved_on(self, from_: Opened, pin: str | None) -> bool:
        """Look at the store anew: whether a request answered from `from_` would now be answered otherwise.

        A build may be pruned while a request reads it, or before this shim hears that another is live.
        """
        self._watch.now(self._flights.seconds)
        try:
            return self.opened(pin) is not from_
        except UnknownBuild:
            return True

    def _asked_for(self, id_: str) -> Opened:
        """A build that is not live, opened for all who ask for it; it stays open while somebody does."""
        opened = self._pinned.get(id_)
        if opened is None:
            [opened] = self._flights.get({id_: lambda: self._prepared(id_)})
            self._keep(opened)
        opened.asked = monotonic()
        return opened

    def _keep(self, opened: Opened) -> None:
        self._pinned[opened.build.id] = opened
        by_use = sorted(self._pinned.copy().items(), key=lambda item: item[1].asked)
        for id_, _ in by_use[:-_MOST_PINNED]:
            self._pinned.pop(id_, None)

    def _look(self) -> None:
        """Follow the pointer; where it or its build cannot be read, the build at hand goes on to serve."""
        try:
            self._follow(builds.live_build_id(self._store))
            self._forget_pruned()
            self._trouble_is("")
        except Exception as error:  # whatever it is, the next look may find it mended
            self._trouble_is(str(error) or repr(error))
        self._metrics.flush()

    def _follow(self, id_: str) -> None:
        before = opened = self._live
        if opened is None:
            self._probe()
            opened = self._flights.run(lambda: self._opened(id_))
        elif opened.build.id != id_:
            opened = self._pinned.get(id_) or self._flights.run(lambda: self._prepared(id_))
        try:
            if not opened.prepared:
                self._flights.run(opened.prepare)
        finally:  # the first build serves even with a damaged part: there is nothing at hand that could instead
            if opened is not before:
                self._goes_live(opened)

    def _goes_live(self, opened: Opened) -> None:
        before, self._live = self._live, opened
        self._metrics.live(opened.build.record)
        if before is not None:
            before.asked = monotonic()
            self._keep(before)

    def _opened(self, id_: str) -> Opened:
        return Opened(builds.open_build(self._store, id_, self._copies), self._cache, self._metrics)

    def _prepared(self, id_: str) -> Opened:
        opened = self._opened(id_)
        opened.prepare()
        return opened

    def _probe(self) -> None:
        """Say at once if this reader is told that what is not there is forbidden: it cannot tell one from the other."""
        try:
            self._store.stat(builds.record_name(_NO_BUILD))
        except AccessDenied as error:
            self._log.line(f"what is not in the store is denied, and so will be a failure rather than unknown: {error}")

    def _forget_pruned(self) -> None:
        for id_, opened in self._pinned.copy().items():
            unused = monotonic() > opened.asked + _PINNED_SECONDS
            if unused or self._store.stat(builds.record_name(id_)) is None:
                self._pinned.pop(id_, None)

    def _trouble_is(self, trouble: str) -> None:
        if trouble and trouble != self.trouble and self._live:
            self._log.line(f"the pointer cannot be followed, build {self._live.build.id} serves on: {trouble}")
        self.trouble = trouble
