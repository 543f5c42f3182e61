"""The builds at hand: which one is live, those opened, and what is worked out once per build.

A thread follows the pointer. It opens a new build and reads what every answer needs before that build answers, so a
request waits for the store at most once, for an object of its own. A request asks once which build answers it and reads
from that one alone, so no answer mixes builds.
"""

from time import monotonic

from edge_auth.contract import builds, layout
from edge_auth.contract.store.file_cache import FileCache
from edge_auth.contract.store.interface import Store
from edge_auth.core.bodies import Cache
from edge_auth.core.open_build import OpenBuild
from edge_auth.errors import AccessDenied, StoreError, UnknownBuild
from edge_auth.host.coalescing_store import with_deadline
from edge_auth.host.log import Log
from edge_auth.host.metrics import Metrics
from edge_auth.host.poller import POLL_SECONDS, Poller
from edge_auth.host.single_flight import SingleFlight

_MOST_PINNED = 4
_PINNED_SECONDS = 300
_CACHE_BYTES = 16 << 20


class BuildRegistry:
    """The builds of a store as a shim sees them."""

    def __init__(
        self,
        store: Store,
        copies: FileCache,
        flights: SingleFlight,
        log: Log,
        metrics: Metrics,
        poll: float = POLL_SECONDS,
    ):
        self._store = with_deadline(store, flights)
        self._copies = copies
        self._flights = flights
        self._log = log
        self._metrics = metrics
        self._cache = Cache(_CACHE_BYTES)
        self._live: OpenBuild | None = None
        self._pinned: dict[str, OpenBuild] = {}
        self.trouble = ""
        self._poller = Poller(self._poll, poll)

    def opened(self, pin: str | None = None) -> OpenBuild:
        """The live build, or the one that a request asks for.

        Raises:
            UnknownBuild: the store does not keep it.
            StoreError: no build is live, or it cannot be read.
        """
        live = self._live
        if live is None:
            self._poller.refresh(self._flights.seconds)
            live = self._live
        if live is None:
            raise StoreError(self.trouble or "the live build is still being read")
        return live if pin in (None, live.build.id) else self._asked_for(pin)

    def has_moved_on(self, from_: OpenBuild, pin: str | None) -> bool:
        """Look at the store anew: whether a request answered from `from_` would now be answered otherwise.

        A build may be pruned while a request reads it, or before this shim hears that another is live.
        """
        self._poller.refresh(self._flights.seconds)
        try:
            return self.opened(pin) is not from_
        except UnknownBuild:
            return True

    def _asked_for(self, id_: str) -> OpenBuild:
        """A build that is not live, opened for all who ask for it; it stays open while somebody does."""
        opened = self._pinned.get(id_)
        if opened is None:
            [opened] = self._flights.get({id_: lambda: self._prepared(id_)})
            self._keep(opened)
        opened.last_used = monotonic()
        return opened

    def _keep(self, opened: OpenBuild) -> None:
        self._pinned[opened.build.id] = opened
        by_use = sorted(self._pinned.copy().items(), key=lambda item: item[1].last_used)
        for id_, _ in by_use[:-_MOST_PINNED]:
            self._pinned.pop(id_, None)

    def _poll(self) -> None:
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

    def _goes_live(self, opened: OpenBuild) -> None:
        before, self._live = self._live, opened
        self._metrics.live(opened.build.record)
        if before is not None:
            before.last_used = monotonic()
            self._keep(before)

    def _opened(self, id_: str) -> OpenBuild:
        return OpenBuild(builds.open_build(self._store, id_, self._copies), self._cache, self._metrics.cache)

    def _prepared(self, id_: str) -> OpenBuild:
        opened = self._opened(id_)
        opened.prepare()
        return opened

    def _probe(self) -> None:
        """Say at once if this reader is told that what is not there is forbidden: it cannot tell one from the other."""
        try:
            self._store.stat(layout.record_name(layout.NO_BUILD_ID))
        except AccessDenied as error:
            self._log.line(f"what is not in the store is denied, and so will be a failure rather than unknown: {error}")

    def _forget_pruned(self) -> None:
        for id_, opened in self._pinned.copy().items():
            unused = monotonic() > opened.last_used + _PINNED_SECONDS
            if unused or self._store.stat(layout.record_name(id_)) is None:
                self._pinned.pop(id_, None)

    def _trouble_is(self, trouble: str) -> None:
        if trouble and trouble != self.trouble and self._live:
            self._log.line(f"the pointer cannot be followed, build {self._live.build.id} serves on: {trouble}")
        self.trouble = trouble
