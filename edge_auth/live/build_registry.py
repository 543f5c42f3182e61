"""The builds that a shim answers from: the live one, and those that requests name in X-Build.

A thread follows the pointer. It opens a new build, over a bucket from copies on this machine, and reads what every
answer needs. Then it makes the answers that clients had lately, and changes over.
A request selects its build once and reads from that build only, so no answer mixes builds. A damaged build
does not go live. An earlier one answers.
"""

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import NamedTuple

from edge_auth.builds import builds, layout
from edge_auth.builds.bodies import Body, MadeBody
from edge_auth.builds.changes import Step, Steps, listed_steps, read_index
from edge_auth.builds.copies import BuildCopies
from edge_auth.builds.pointer import Pointer, live_pointer, read_pointer
from edge_auth.errors import AccessDenied, DamagedObject, EdgeError, NoLiveBuild, RateLimited, StoreError, UnknownBuild
from edge_auth.live.jobs import Jobs
from edge_auth.live.log import Log
from edge_auth.live.metrics import Metrics
from edge_auth.live.open_build import LruCache, OpenBuild
from edge_auth.live.poller import MAX_REFRESHES_PER_SECOND, POLL_SECONDS, Budget, Poller
from edge_auth.store.disk import replace_file
from edge_auth.store.file_cache import FileCache
from edge_auth.store.interface import Store

Warm = Callable[[OpenBuild, OpenBuild, Callable[[], bool]], None]
_MAX_PINNED_BUILDS = 4
_MAX_PINNED_IDLE_SECONDS = 300
_CACHE_BYTES = 16 << 20
# How long answers are made before the build goes live. It must be in force five seconds after the pointer has moved.
_MAX_WARMING_SECONDS = 1.0
_MAX_LISTS_PER_SECOND, _MAX_LISTS_AT_ONCE = 2, 10  # that clients can cause by unknown ids
_LISTED_SECONDS = 5.0  # how long a listing tells which builds there are not
_REPAIR_SECONDS = 60.0  # between the repairs of a build that answers find damaged
_RETRY_SECONDS, _MAX_RETRY_SECONDS = 10.0, 300.0  # between attempts to copy a build: the pause doubles
_REFUSAL_SECONDS = 5  # until a request that names a build which is not here may come again


class _Failed(NamedTuple):
    """A build that the pointer names and that could not be copied."""

    id: str
    error: StoreError
    pause: float
    next_try: float


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

    def repair(self, build: OpenBuild) -> None:
        """Do nothing: there is nothing to make it from."""


class BuildRegistry:
    """The open builds of a store.

    Args:
        file_cache: Where large objects are inflated to, and files of a folder are copied to before they are mapped.
        copies: What answers need of a bucket; None for a folder.
        live_file: Names the build that is live here, for an nginx in front of this shim and for the next start over a
            bucket that fails. None without both.

    Attributes:
        steps: The steps of the store, for /changes.
        warm: Makes the answers that clients had lately from a build that goes live (`api.warming.warm`). None until
            it is set.
        last_error: Why the pointer or its build could not be read at the last poll, or ''.
    """

    def __init__(
        self,
        store: Store,
        file_cache: FileCache,
        jobs: Jobs,
        log: Log,
        metrics: Metrics,
        poll_seconds: float = POLL_SECONDS,
        *,
        copies: BuildCopies | None = None,
        live_file: Path | None = None,
    ):
        self._store, self._copies = store, copies
        self._file_cache = file_cache
        self._jobs = jobs
        self._log = log
        self._metrics = metrics
        self._cache = LruCache(_CACHE_BYTES)
        self._live: OpenBuild | None = None
        self._pinned: dict[str, OpenBuild] = {}
        self._kept: set[str] = set()  # the ids of the builds in the store, as last listed
        self._listed_at = -inf
        self._repaired_at: dict[str, float] = {}  # when the repair of a build began
        self._failed: _Failed | None = None
        self._problems: dict[str, str] = {}  # what `_try` has logged
        self._pinned_copy = Lock()  # held while a build that requests name is copied
        self._lists = Budget(_MAX_LISTS_PER_SECOND, _MAX_LISTS_AT_ONCE)
        self._live_file, self._said_live = live_file, ""
        self.steps = FollowedSteps(store, copies.store if copies else store, self._cache, self._refresh, self._no_build)
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

    def repair(self, build: OpenBuild) -> None:
        """Begin to replace the damaged copies of a build, at most once in a while."""
        now = monotonic()
        if self._copies is not None and now > self._repaired_at.get(build.id, -inf) + _REPAIR_SECONDS:
            self._repaired_at[build.id] = now
            self._jobs.begin(("repair", build.id), lambda: self._repair(build))

    def _repair(self, build: OpenBuild) -> None:
        """Replace the damaged copies of a build, and the build, which has mapped some of them."""
        assert self._copies is not None, "only copies are repaired"
        try:
            self._copies.repair(build.id)
            repaired = self._open_prepared(build.id)
        except Exception as error:  # requests get 500 until a later attempt succeeds
            self._log.line(f"the damaged copies of build {build.id} cannot be replaced: {error}")
            return
        if self._live is build:
            self._live = repaired
        elif self._pinned.get(build.id) is build:
            self._pin(repaired)

    def _select_pinned(self, id_: str) -> OpenBuild:
        """Return a build that is not live. Requests share it, and it stays open while requests use it."""
        build = self._pinned.get(id_)
        if build is None:
            layout.record_name(id_)
            if id_ not in self._kept and self._lists.take():
                self._jobs.wait_for(layout.BUILDS, self._list_ids)
            if id_ not in self._kept:
                raise self._not_kept(id_)
            build = self._jobs.wait_for(id_, lambda: self._copy_pinned(id_))
        build.last_used = monotonic()
        return build

    def _list_ids(self) -> None:
        self._kept, self._listed_at = set(layout.build_ids(self._store.list(layout.BUILDS))), monotonic()

    def _not_kept(self, id_: str) -> EdgeError:
        if monotonic() > self._listed_at + _LISTED_SECONDS:  # the store fails, so nothing is known
            return StoreError("which builds the store holds could not be read lately")
        return UnknownBuild(f"the store does not hold build {id_}")

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
            self._set_last_error(None)
        except Exception as error:  # whatever the error is, the next poll may succeed
            self._set_last_error(error)
            if self._live is None and self._copies is not None:
                self._open_last()
        else:
            self._try("the steps of /changes are not all copied", self.steps.copy)
            self._try("which build is live here is not noted", lambda: self._say_live(pointer))
            self._try("builds that are not used any more are not closed", self._close_unused)

    def _try(self, problem: str, work: Callable[[], object]) -> None:
        """Do what a build that is live does not need. The next poll tries it again."""
        try:
            work()
            self._problems.pop(problem, None)
        except Exception as error:
            if self._problems.get(problem) != str(error):
                self._log.line(f"{problem}: {error}")
            self._problems[problem] = str(error)

    def _follow_steps(self, pointer: Pointer) -> None:
        """Follow the steps before the build, so that a build which an answer names in X-Build is known to /changes."""
        try:
            self.steps.follow(pointer)
        except EdgeError as error:  # a build must go live without them
            self._log.once(f"the steps of /changes stay as they are: {error}")

    def _refresh(self) -> None:
        self._poller.refresh(self._jobs.seconds)

    def _follow(self, id_: str) -> None:
        before = build = self._live
        if build is None or build.id != id_:
            build = self._pinned.get(id_) or self._open_followed(id_)
        try:
            if not build.prepared:
                build.prepare()
            if before is not None and build is not before:
                self._make_recent(build, before)
        finally:  # the first build goes live even if it is partly damaged: there is no other build to answer from
            if build is not before:
                self._go_live(build)

    def _open_followed(self, id_: str) -> OpenBuild:
        """Open the build that the pointer names. One that could not be copied is not tried again at each poll."""
        failed = self._failed if self._failed and self._failed.id == id_ else None
        if failed and monotonic() < failed.next_try:
            raise failed.error.with_traceback(None)
        try:
            build = self._open_first(id_) if self._live is None else self._jobs.run(id_, lambda: self._open_pinned(id_))
        except StoreError as error:
            if self._copies is not None:
                pause = min(2 * failed.pause, _MAX_RETRY_SECONDS) if failed else _RETRY_SECONDS
                self._failed = _Failed(id_, error, pause, monotonic() + pause)
            raise
        self._failed = None
        return build

    def _make_recent(self, build: OpenBuild, before: OpenBuild) -> None:
        """Make the answers that clients had lately."""
        deadline = monotonic() + _MAX_WARMING_SECONDS
        if self.warm is not None:
            with suppress(EdgeError):
                self.warm(build, before, lambda: monotonic() < deadline and not self._poller.requested)

    def _open_first(self, id_: str) -> OpenBuild:
        """Open the build that the pointer names. If it is damaged, open the newest whole one of those before it."""
        self._test_permissions()
        pointer, _ = read_pointer(self._store)
        damage = EdgeError if self._copies is None else DamagedObject  # a bucket may also fail
        for candidate in (id_, *(pointer.previous if pointer else ())):
            with suppress(damage):  # the next poll logs why the live build cannot be opened
                return self._open_prepared(candidate)
        return self._open(self._store_of(id_), id_)

    def _open_last(self) -> None:
        """Open the build that was live here before this start, as far as its copies are here."""
        with suppress(Exception):  # damaged copies may raise anything, and the poller goes on
            if self._live_file is not None:
                self._go_live(self._open_prepared(self._live_file.read_text()))

    def _go_live(self, build: OpenBuild) -> None:
        before, self._live = self._live, build
        self._metrics.live(build.objects.record)
        if before is not None:
            self._pin(before)

    def _say_live(self, pointer: Pointer) -> None:
        """Note which build is live here, unless the pointer has moved on: another worker may follow it already."""
        if self._live_file is not None and self._live is not None and self._live.id != self._said_live:
            if live_pointer(self._store).build != pointer.build:
                return
            id_ = self._live.id
            try:
                replace_file(self._live_file, [id_.encode()], mode=0o600)
            except OSError as error:
                raise StoreError(f"{self._live_file} cannot be written: {error.strerror}") from error
            self._said_live = id_

    def _store_of(self, id_: str) -> Store:
        """Return where a build is read. Copies are made if they are not here."""
        return self._copies.open(id_) if self._copies else self._store

    def _open(self, store: Store, id_: str) -> OpenBuild:
        return OpenBuild(builds.open_build(store, id_, self._file_cache), self._cache, self._metrics.cache)

    def _copy_pinned(self, id_: str) -> OpenBuild:
        """Open a build that requests name. One is copied at a time: they must not fill the disk or delay others.

        Raises:
            RateLimited: Another one is being copied.
        """
        if self._copies is None:
            return self._open_pinned(id_)
        if not self._pinned_copy.acquire(blocking=False):
            message = f"another build is being copied for X-Build: wait {_REFUSAL_SECONDS} seconds"
            raise RateLimited(message, Retry_After=str(_REFUSAL_SECONDS))
        try:
            self._copies.drop_unused()
            return self._open_pinned(id_)
        finally:
            self._pinned_copy.release()

    def _open_pinned(self, id_: str) -> OpenBuild:
        """Open a build while requests are answered. Requests and the poller share it."""
        build = self._open_prepared(id_)
        self._pin(build)
        return build

    def _open_prepared(self, id_: str) -> OpenBuild:
        """Open a build, and read what every answer needs. Copies that are damaged are made again."""
        store = self._store_of(id_)
        try:
            return self._prepared(store, id_)
        except Exception as error:  # damaged copies may raise anything
            is_damage = isinstance(error, DamagedObject) or not isinstance(error, EdgeError)
            if self._copies is None or not is_damage:
                raise
        self._copies.repair(id_)
        return self._prepared(self._store_of(id_), id_)

    def _prepared(self, store: Store, id_: str) -> OpenBuild:
        build = self._open(store, id_)
        build.prepare()
        if self._copies is None:  # bulk files are not copied
            for layer in build.objects.layers.values():
                layer.require_whole_files()
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
            is_pruned = self._store.stat(layout.record_name(id_)) is None
            if idle or is_pruned:
                self._pinned.pop(id_, None)
            if is_pruned:
                self._kept.discard(id_)
        if self._copies is not None:
            self._copies.drop_unused()

    def _set_last_error(self, error: Exception | None) -> None:
        message = (str(error) or repr(error)) if error else ""
        if message and message != self.last_error and self._live:
            self._log.line(f"the pointer cannot be followed, build {self._live.id} stays live here: {message}")
        self.last_error, self._last_exception = message, error


class FollowedSteps:
    """The steps of a store.

    Args:
        near: Where documents are read first. If this is not the store, they are copied there.
        cache: Where documents are kept.
        refresh: Makes the poller look at the pointer at once, and waits for it.
        problem: Returns the error for a store whose pointer could not be read yet.
    """

    def __init__(
        self,
        store: Store,
        near: Store,
        cache: LruCache,
        refresh: Callable[[], object],
        problem: Callable[[], EdgeError],
    ):
        self._store, self._near = store, near
        self._cache = cache
        self._refresh = refresh
        self._problem = problem
        self._budget = Budget(MAX_REFRESHES_PER_SECOND, MAX_REFRESHES_PER_SECOND)
        self._pointer: Pointer | None = None
        self._steps: Steps | None = None
        self._copied: Steps | None = None  # the steps whose documents were copied

    def follow(self, pointer: Pointer) -> None:
        """Read the index, if the pointer has moved or documents are missing.

        Raises:
            StoreError: The index cannot be read. The steps stay as they are.
        """
        if self._steps is not None and self._steps.complete and pointer == self._pointer:
            return
        index = read_index(self._store) if pointer.moved_from else {}
        self._steps = listed_steps(pointer, index)
        self._pointer = pointer

    def copy(self) -> None:
        """Copy the documents that are not here, and delete those that are listed no more, once for each list of steps.

        Raises:
            StoreError: A document cannot be copied. The others are, and `document` reads it from the store.
        """
        steps = self._steps
        if self._near is self._store or steps is None or steps == self._copied:
            return
        self._copied = steps
        wanted = {layout.changes_name(step.from_, step.to): steps.comparison(step).sha256 for step in steps.documented}
        here = set(self._near.list(layout.CHANGES))
        self._near.delete(here - wanted.keys())
        failed = [error for name in wanted.keys() - here if (error := self._failure_of_copy(name, wanted[name]))]
        if failed:
            raise failed[0]

    def _failure_of_copy(self, name: str, digest: str) -> StoreError | None:
        try:
            self._near.put(name, _verified(self._store, name, digest))
        except StoreError as error:
            return error
        return None

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
            name = layout.changes_name(step.from_, step.to)
            body = MadeBody(self._read(name, steps.comparison(step).sha256))
            self._cache.put(key, body, body.cost)
        return body

    def _read(self, name: str, digest: str) -> bytes:
        """Return a document. If its copy is missing or damaged, it is read in the store."""
        if self._near is not self._store:
            with suppress(StoreError):
                return _verified(self._near, name, digest)
        return _verified(self._store, name, digest)


def _verified(store: Store, name: str, digest: str) -> bytes:
    data = store.get(name)
    if sha256(data).hexdigest() != digest:
        raise StoreError(f"{name} in {store.location} does not match its hash")
    return data
