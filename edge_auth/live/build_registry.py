"""The builds that a shim answers from: the live one, and those that requests name in X-Build.

A thread follows the pointer. It opens a new build and reads what every answer needs before the build goes live here.
So a request waits for the store at most once, for its own object. Then it makes the answers that clients had lately.
A request selects its build once and reads from that build only, so no answer mixes builds. A build of a folder that
lost data in a power cut does not go live. An earlier one answers.
"""

import time
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from hashlib import sha256
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic

from edge_auth.builds import builds, layout
from edge_auth.builds.bodies import Body, MadeBody
from edge_auth.builds.changes import Step, Steps, listed_steps, read_index
from edge_auth.builds.pointer import Pointer, live_pointer, read_pointer
from edge_auth.errors import AccessDenied, EdgeError, NoLiveBuild, StoreError, UnknownBuild
from edge_auth.live.log import Log
from edge_auth.live.metrics import Metrics
from edge_auth.live.open_build import LruCache, OpenBuild
from edge_auth.live.poller import MAX_REFRESHES_PER_SECOND, POLL_SECONDS, Budget, Poller
from edge_auth.live.waiting import Background, SingleFlight, with_deadline
from edge_auth.store.disk import replace_file
from edge_auth.store.file_cache import FileCache
from edge_auth.store.interface import Store

Warm = Callable[[OpenBuild, OpenBuild, Callable[[], bool]], None]
_MAX_PINNED_BUILDS = 4
_MAX_PINNED_IDLE_SECONDS = 300
_CACHE_BYTES = 16 << 20
# How long answers are made before the build goes live. It must be in force five seconds after the pointer has moved.
_MAX_WARMING_SECONDS = 1.0
_REMEMBERED_SECONDS = 5.0
_MAX_REMEMBERED = 1000
_MAX_LOOKUPS_PER_SECOND, _MAX_BURST = 10, 150
_LISTED_SECONDS = 1.0


class OneBuild:
    """The only build of a process that asks it directly."""

    def __init__(self, build: OpenBuild):
        self._build = build

    def select(self, pin: str | None = None) -> OpenBuild:
        """Return the build.

        Raises:
            UnknownBuild: A request names another one.
        """
        if pin not in (None, self._build.id):
            raise UnknownBuild(f"build {pin} is not open here")
        return self._build

    def has_changed(self, build: OpenBuild, pin: str | None) -> bool:
        """Return False: it does not change."""
        return False


class BuildRegistry:
    """The open builds of a store.

    Args:
        background: In what other builds are opened beside requests.
        live_file: Names the build that is live here, for an nginx in front of this shim. None without nginx.

    Attributes:
        steps: The steps of the store, for /changes.
        warm: Makes the answers that clients had lately from a build that goes live (`api.nginx_edge.warm`). None
            until it is set. A cache in front of the shim fetches them itself.
        last_error: Why the pointer or its build could not be read at the last poll, or ''.
    """

    def __init__(
        self,
        store: Store,
        file_cache: FileCache,
        single_flight: SingleFlight,
        log: Log,
        metrics: Metrics,
        poll_seconds: float = POLL_SECONDS,
        *,
        background: Background | None = None,
        live_file: Path | None = None,
    ):
        self._store = with_deadline(store, single_flight)
        self._file_cache = file_cache
        self._single_flight = single_flight
        self._log = log
        self._metrics = metrics
        self._cache = LruCache(_CACHE_BYTES)
        self._live: OpenBuild | None = None
        self._pinned: dict[str, OpenBuild] = {}
        self._unknown = UnknownBuilds(self._list_ids)
        self._opening = Lock()
        self._background = background or Background()
        self._live_file, self._said_live = live_file, ""
        self.steps = FollowedSteps(self._store, self._cache, self._refresh, self._no_build)
        self.warm: Warm | None = None
        self.last_error = ""
        self._last_exception: Exception | None = None
        self._poller = Poller(self._poll, poll_seconds)

    def select(self, pin: str | None = None) -> OpenBuild:
        """Return the live build, or the one that a request names in X-Build.

        Raises:
            UnknownBuild: The store does not hold it.
            NoLiveBuild: No build was ever published.
            StoreError: The build cannot be read.
        """
        live = self._live
        if live is None:
            self._refresh()
            live = self._live
        if live is None:
            raise self._no_build()
        return live if pin is None or pin == live.id else self._select_pinned(pin)

    def _no_build(self) -> EdgeError:
        error = self._last_exception
        if isinstance(error, NoLiveBuild):
            return NoLiveBuild(str(error))
        return StoreError(self.last_error or "the live build is still being read")

    def has_changed(self, build: OpenBuild, pin: str | None) -> bool:
        """Read the pointer again. Return whether a request answered from `build` would now get another build.

        A build may be pruned while a request reads it, or before this shim knows that another build is live.
        """
        self._refresh()
        try:
            return self.select(pin) is not build
        except UnknownBuild:
            return True

    def _list_ids(self) -> set[str]:
        [ids] = self._single_flight.get({layout.BUILDS: lambda: set(layout.build_ids(self._store.list(layout.BUILDS)))})
        return ids

    def _select_pinned(self, id_: str) -> OpenBuild:
        """Return a build that is not live. Requests share it, and it stays open while requests use it."""
        build = self._pinned.get(id_)
        if build is None:
            self._unknown.check(id_)
            try:
                [build] = self._single_flight.get({id_: lambda: self._open_pinned(id_)})
            except UnknownBuild:
                self._unknown.add(id_)
                raise
        build.last_used = monotonic()
        return build

    def _pin(self, build: OpenBuild) -> None:
        build.last_used = monotonic()
        self._pinned[build.id] = build
        for id_, _ in sorted(self._pinned.copy().items(), key=lambda item: item[1].last_used)[:-_MAX_PINNED_BUILDS]:
            self._pinned.pop(id_, None)

    def _poll(self) -> None:
        """Follow the pointer. If it or its build cannot be read, the current build stays live."""
        try:
            pointer = live_pointer(self._store)
            self._follow_steps(pointer)
            self._follow(pointer.build)
            self._say_live()
            self._close_unused()
            self._set_last_error(None)
        except Exception as error:  # whatever the error is, the next poll may succeed
            self._set_last_error(error)
        self._metrics.flush()

    def _follow_steps(self, pointer: Pointer) -> None:
        """Follow the steps before the build, so that a build which an answer names in X-Build is known to /changes."""
        try:
            self.steps.follow(pointer)
        except EdgeError as error:  # a build must go live without them
            self._log.once(f"the steps of /changes stay as they are: {error}")

    def _refresh(self) -> None:
        with self._single_flight.waiting(self._poller):  # the poller may be opening a build
            self._poller.refresh(self._single_flight.seconds)

    def _follow(self, id_: str) -> None:
        before = build = self._live
        if build is None:
            self._test_permissions()
            build = self._open_first(id_)
        elif build.id != id_:
            build = self._pinned.get(id_) or self._single_flight.run(id_, lambda: self._open_pinned(id_))
        try:
            if not build.prepared:
                self._single_flight.run(build, build.prepare)
            if before is not None and build is not before:
                self._make_recent(build, before)
        finally:  # the first build goes live even if it is partly damaged: there is no other build to answer from
            if build is not before:
                self._go_live(build)

    def _make_recent(self, build: OpenBuild, before: OpenBuild) -> None:
        """Make the answers that clients had lately."""
        deadline = monotonic() + _MAX_WARMING_SECONDS
        if self.warm is not None:
            with suppress(EdgeError), self._background:
                self.warm(build, before, lambda: monotonic() < deadline and not self._poller.requested)

    def _open_first(self, id_: str) -> OpenBuild:
        """Open the build that the pointer names. In a folder, open the newest whole one of those before it instead."""
        if self._store.local_path("") is not None:
            pointer, _ = read_pointer(self._store)
            for candidate in (id_, *(pointer.previous if pointer else ())):
                with suppress(EdgeError):  # the next poll logs why the live build cannot be opened
                    return self._single_flight.run(candidate, partial(self._open_prepared, candidate))
        return self._single_flight.run(id_, lambda: self._open(id_))

    def _go_live(self, build: OpenBuild) -> None:
        before, self._live = self._live, build
        self._metrics.live(build.objects.record)
        if before is not None:
            self._pin(before)

    def _say_live(self) -> None:
        """Tell nginx which build is live here."""
        if self._live_file is not None and self._live is not None and self._live.id != self._said_live:
            id_ = self._live.id
            try:
                replace_file(self._live_file, [id_.encode()], mode=0o600)
            except OSError as error:
                raise StoreError(f"nginx cannot be told which build is live: {error}") from error
            self._said_live = id_

    def _open(self, id_: str) -> OpenBuild:
        return OpenBuild(builds.open_build(self._store, id_, self._file_cache), self._cache, self._metrics.cache)

    def _open_pinned(self, id_: str) -> OpenBuild:
        """Open a build while requests are answered. Requests and the poller share it before another opening begins."""
        build = self._open_prepared(id_)
        self._pin(build)
        return build

    def _open_prepared(self, id_: str) -> OpenBuild:
        """Open one build at a time, with the interpreter mostly left to requests."""
        build = self._open(id_)
        with self._opening, self._background:
            build.prepare()
        return build

    def _test_permissions(self) -> None:
        """Log at the start if the store denies access to missing objects, so that they look like a failure."""
        try:
            self._store.stat(layout.record_name(layout.NO_BUILD_ID))
        except AccessDenied as error:
            self._log.line(f"the store denies access to missing objects, so unknown builds will be failures: {error}")

    def _close_unused(self) -> None:
        """Close the pinned builds that no request has used for a while, and those that were pruned."""
        for id_, build in self._pinned.copy().items():
            idle = monotonic() > build.last_used + _MAX_PINNED_IDLE_SECONDS
            if idle or self._store.stat(layout.record_name(id_)) is None:
                self._pinned.pop(id_, None)

    def _set_last_error(self, error: Exception | None) -> None:
        message = (str(error) or repr(error)) if error else ""
        if message and message != self.last_error and self._live:
            self._log.line(f"the pointer cannot be followed, build {self._live.id} stays live here: {message}")
        self.last_error, self._last_exception = message, error


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
        self._lookups = Budget(_MAX_LOOKUPS_PER_SECOND, _MAX_BURST)
        self._lock = Lock()

    def check(self, id_: str) -> None:
        """Return if an id may be looked up in the store.

        Raises:
            UnknownBuild: It is no build id, or the store did not hold it a moment ago.
            StoreError: The builds of the store cannot be listed.
        """
        layout.record_name(id_)
        now = time.monotonic()
        if now < self._until.get(id_, 0.0) or not (self._lookups.has_one() or id_ in self._kept(now)):
            raise UnknownBuild(f"the store does not hold build {id_}")

    def add(self, id_: str) -> None:
        """Remember that the store does not hold an id, which took one look-up."""
        with self._lock:
            self._lookups.spend()
            if len(self._until) >= _MAX_REMEMBERED:
                self._until.clear()
            self._until[id_] = time.monotonic() + _REMEMBERED_SECONDS

    def _kept(self, now: float) -> Collection[str]:
        if now > self._listed_at + _LISTED_SECONDS:
            self._listed, self._listed_at = self._list_ids(), now
        return self._listed


class FollowedSteps:
    """The steps of a store.

    Args:
        cache: Where documents are kept.
        refresh: Makes the poller look at the pointer at once, and waits for it.
        problem: Returns the error for a store whose pointer could not be read yet.
    """

    def __init__(self, store: Store, cache: LruCache, refresh: Callable[[], object], problem: Callable[[], EdgeError]):
        self._store = store
        self._cache = cache
        self._refresh = refresh
        self._problem = problem
        self._budget = Budget(MAX_REFRESHES_PER_SECOND, MAX_REFRESHES_PER_SECOND)
        self._pointer: Pointer | None = None
        self._steps: Steps | None = None

    def follow(self, pointer: Pointer) -> None:
        """Read the index, if the pointer has moved or documents are missing.

        Raises:
            StoreError: The index cannot be read. The steps stay as they are.
        """
        if self._steps is not None and self._steps.complete and pointer == self._pointer:
            return
        index = read_index(self._store) if pointer.moved_from else {}
        self._pointer, self._steps = pointer, listed_steps(pointer, index)

    def known(self) -> Steps:
        """Return the steps."""
        if self._steps is None:
            self._refresh()
        if self._steps is None:
            raise self._problem()
        return self._steps

    def refreshed(self) -> Steps:
        """Return the steps after another look at the store, if the rate of looks allows one."""
        if self._budget.take():
            self._refresh()
        return self.known()

    def document(self, step: Step, steps: Steps) -> Body:
        """Return the document of a step, verified."""
        key = "step", step  # a build, which shares the cache, begins its keys with its id
        body: Body | None = self._cache.get(key)
        if body is None:
            body = MadeBody(self._read(step, steps.comparison(step).sha256))
            self._cache.put(key, body, body.cost)
        return body

    def _read(self, step: Step, digest: str) -> bytes:
        name = layout.changes_name(step.from_, step.to)
        data = self._store.get(name)
        if sha256(data).hexdigest() != digest:
            raise StoreError(f"{name} in {self._store.location} does not match its hash")
        return data
