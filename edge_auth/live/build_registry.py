"""The builds that a shim answers from: the live one, and those that requests name in X-Build.

A thread follows the pointer. It opens a new build, over a bucket from copies on this machine, reads what every answer
needs, and changes over. A request selects its build once and reads from that build only, so no answer mixes builds. A
damaged build does not go live. An earlier one answers. What cannot be read raises StoreError.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from threading import Lock, Semaphore
from time import monotonic

from edge_auth.live.background import Jobs, Poller, busy
from edge_auth.live.build_copies import BuildCopies
from edge_auth.live.log import Log
from edge_auth.live.metrics import Metrics
from edge_auth.live.open_build import LruCache, OpenBuild
from generator.storage import builds, layout
from generator.storage.bodies import Body, MadeBody
from generator.storage.builds import Pointer, live_pointer
from generator.storage.changes import Step, Steps, listed_steps, read_index
from generator.storage.errors import AccessDenied, DamagedObject, NoLiveBuild, StorageError, StoreError, UnknownBuild
from generator.storage.stores.disk import replace_file
from generator.storage.stores.file_cache import FileCache, checked
from generator.storage.stores.interface import Store

_MAX_PINNED_BUILDS = 4
_MAX_PINNED_IDLE_SECONDS = 300
_MAX_WAITING = 16  # requests for the pointer, so that a store that hangs leaves threads for the others
_LISTED_SECONDS = 0.5  # between two lists of the builds, which clients can cause by unknown ids
_RETRY_SECONDS = 5.0  # between attempts to open a build that failed
_REPAIR_SECONDS = 30.0  # between repairs
_LOOK_SECONDS = 20.0  # between looks whether all copies are there


@dataclass(frozen=True)
class OneBuild:
    """The only build of a process that asks it directly, and names no other one."""

    build: OpenBuild
    problem: str = ""

    def select(self, pin: str | None = None) -> OpenBuild:
        return self.build

    def note_failure(self, build: OpenBuild, error: StoreError) -> None:
        """Do nothing: there is nothing else to answer from."""


class BuildRegistry:
    """The open builds of a store.

    Args:
        copies: What answers need of a bucket; None for a folder.
        live_file: Names the build that is live here, for an nginx in front of this shim and for the next start over a
            bucket that fails. None without both.
    """

    def __init__(
        self,
        store: Store,
        file_cache: FileCache,
        jobs: Jobs,
        log: Log,
        metrics: Metrics,
        copies: BuildCopies | None = None,
        live_file: Path | None = None,
    ):
        self._store, self._copies = store, copies
        self.file_cache = file_cache
        self._jobs = jobs
        self._log = log
        self._metrics = metrics
        self._cache = LruCache()
        self._live: OpenBuild | None = None
        self._pinned: dict[str, OpenBuild] = {}
        self._opening = Lock()  # requests open one build at a time: they must not fill the disk or delay the live one
        self._kept: set[str] = set()  # the ids of the builds in the store, as last listed
        self._listed_at = -inf
        self._failed, self._retry_at = "", -inf  # a build that could not be opened
        self._damaged, self._repaired_at = "", -inf  # a build of which a copy is damaged or gone
        self._looked_at = -inf  # when the copies of the live build were all there
        self._live_file, self._said_live = live_file, ""
        self._pointer: Pointer | None = None  # from which the steps were read
        self._steps: Steps | None = None  # of /changes, as last seen
        self._copied: Steps | None = None  # the steps whose documents were copied
        self.last_error = ""  # why the pointer or its build could not be read at the last poll
        self._no_build: StorageError = StoreError("the live build is still being read")
        self._is_following = False  # a build that is being opened delays no request
        self._waiting = Semaphore(_MAX_WAITING)
        self._poller = Poller(self._poll)

    def select(self, pin: str | None = None) -> OpenBuild:
        """Return the live build, or the one that X-Build names. Raise NoLiveBuild or UnknownBuild if there is none."""
        if self._live is None:
            self.refresh()
        elif not self._is_following:
            self._poller.renew()
        live = self._live
        if live is None:
            raise self._no_build.with_traceback(None)
        return live if pin is None or pin == live.id else self._select_pinned(pin)

    def refresh(self) -> None:
        """Read the pointer again, unless many requests wait for that already."""
        if self._waiting.acquire(blocking=False):
            try:
                self._poller.refresh(self._jobs.seconds)
            finally:
                self._waiting.release()

    def note_failure(self, build: OpenBuild, error: StoreError) -> None:
        """Since an answer has failed, have damaged or lost copies replaced, or look whether the build was pruned."""
        if isinstance(error, DamagedObject) or build.store.holds_copies:
            self._damaged = build.id
        else:
            self.refresh()

    @property
    def problem(self) -> str:
        """What /healthz calls failing: the store, or copies that are not replaced yet."""
        return self.last_error or (self._damaged and f"copies of build {self._damaged} are damaged or gone")

    # Builds that requests name

    def _select_pinned(self, id_: str) -> OpenBuild:
        """Return a build that is not live. Requests share it, and it stays open while requests use it."""
        build = self._pinned.get(id_)
        if build is None:
            layout.record_name(id_)
            if id_ not in self._kept and monotonic() > self._listed_at + _LISTED_SECONDS:
                self._jobs.wait_for(layout.BUILDS, self._list_ids)
            if id_ not in self._kept:
                raise UnknownBuild(f"the store does not hold build {id_}")
            late = busy("this build is being copied") if self._copies else None
            build = self._jobs.wait_for(id_, lambda: self._open_pinned(id_), late)
        build.last_used = monotonic()
        return build

    def _list_ids(self) -> None:
        self._kept = set(map(layout.id_of, self._store.list(layout.BUILDS)))
        self._listed_at = monotonic()

    def _open_pinned(self, id_: str) -> OpenBuild:
        if not self._opening.acquire(blocking=self._copies is None):  # a copy may take minutes
            raise busy("another build is being copied for X-Build")
        try:
            build = self._open(id_)
        finally:
            self._opening.release()
        self._pin(build)
        return build

    def _pin(self, build: OpenBuild) -> None:
        build.last_used = monotonic()
        self._pinned[build.id] = build
        for id_, _ in sorted(self._pinned.copy().items(), key=lambda item: item[1].last_used)[:-_MAX_PINNED_BUILDS]:
            self._pinned.pop(id_, None)

    def _close_unused(self) -> None:
        """Close the pinned builds that no request has used for a while, and those that were pruned."""
        for id_, build in self._pinned.copy().items():
            is_pruned = self._store.stat(layout.record_name(id_)) is None
            if is_pruned:
                self._kept.discard(id_)
            if is_pruned or monotonic() > build.last_used + _MAX_PINNED_IDLE_SECONDS:
                self._pinned.pop(id_, None)
        if self._copies is not None:
            self._copies.drop_unused()

    # The steps of /changes

    def steps(self) -> Steps:
        if self._steps is None:
            raise StoreError("the steps between builds could not be read yet")
        return self._steps

    def document(self, step: Step, steps: Steps) -> Body:
        key = "step", step  # a build, which shares the cache, begins its keys with its id
        body: Body | None = self._cache.get(key)
        if body is None:
            body = MadeBody(self._read_document(layout.changes_name(*step), steps.entries[step].sha256))
            self._cache.put(key, body, body.cost)
        return body

    def _read_document(self, name: str, digest: str) -> bytes:
        if self._copies is not None:
            with suppress(StoreError, OSError):  # a full disk, for example
                return self.file_cache.path(self._store, name, digest).read_bytes()
        return b"".join(checked([self._store.get(name)], digest, f"{name} in {self._store.location}"))

    def _follow_steps(self, pointer: Pointer) -> None:
        """Read the index, if the pointer has moved or documents are missing. Otherwise the steps stay as they are."""
        if self._steps is None or not self._steps.complete or pointer != self._pointer:
            self._steps = listed_steps(pointer, read_index(self._store) if pointer.moved_from else {})
            self._pointer = pointer

    def _copy_documents(self) -> None:
        """Copy the documents of a bucket, once for each list of steps. One that fails is read from the bucket later."""
        steps, failed = self._steps, list[StoreError]()
        if self._copies is None or steps is None or steps == self._copied:
            return
        self._copied = steps
        for step in steps.documented:
            try:
                self.file_cache.path(self._store, layout.changes_name(*step), steps.entries[step].sha256)
            except StoreError as error:
                failed.append(error)
        if failed:
            raise failed[0]

    # The live build

    def _poll(self) -> bool:
        """Follow the pointer. If it or its build cannot be read, the current build stays live."""
        try:
            pointer = live_pointer(self._store)
            # Before the build: one that an answer names in X-Build is then known to /changes.
            self._try("the steps of /changes stay as they are", partial(self._follow_steps, pointer))
            if pointer.build == self._failed and monotonic() < self._retry_at:
                return False
            self._is_following = True
            self._follow(pointer)
            self.last_error = ""
        except Exception as error:  # whatever the error is, the next poll may succeed
            self._note(error)
            return False
        finally:
            self._is_following = False
        self._try("the steps of /changes are not all copied", self._copy_documents)
        self._try("which build is live here is not noted", lambda: self._say_live(pointer))
        self._try("the copies of the live build are not looked at", self._look_for_copies)
        self._try("damaged copies are not replaced", self._repair)
        self._try("builds that are not used any more are not closed", self._close_unused)
        return True

    def _note(self, error: Exception) -> None:
        self.last_error = str(error) or repr(error)
        self._no_build = error if isinstance(error, NoLiveBuild) else StoreError(self.last_error)
        if self._live is not None:
            stays = f"build {self._live.id} stays live here"
            self._log.once(f"the pointer cannot be followed, {stays}: {self.last_error}")
        elif self._copies is not None and self._live_file is not None:
            with suppress(Exception):  # the build that was live here before this start, as far as its copies are here
                self._go_live(self._open(self._live_file.read_text()))

    def _try(self, problem: str, work: Callable[[], object]) -> None:
        """Do what a build does not need to be live. The next poll tries it again."""
        try:
            work()
        except Exception as error:
            self._log.once(f"{problem}: {error}")

    def _follow(self, pointer: Pointer) -> None:
        before, id_ = self._live, pointer.build
        if before is None:
            self._go_live(self._open_first(pointer))
        elif before.id != id_:
            self._failed, self._retry_at = id_, monotonic() + _RETRY_SECONDS
            build = self._pinned.get(id_) or self._open(id_)
            self._failed = ""
            self._go_live(build)
        if self._live is not None and not self._live.prepared:
            self._live.prepare()

    def _go_live(self, build: OpenBuild) -> None:
        before, self._live = self._live, build
        self._metrics.live(build.record)
        if before is not None:
            self._pin(before)

    def _say_live(self, pointer: Pointer) -> None:
        """Note which build is live here, unless the pointer has moved on: another worker may follow it already."""
        live = self._live.id if self._live else ""
        is_said = self._live_file is None or (live == self._said_live and self._live_file.exists())
        if self._live_file is None or is_said or live_pointer(self._store).build != pointer.build:
            return
        self._live_file.parent.mkdir(0o700, parents=True, exist_ok=True)
        replace_file(self._live_file, [live.encode()], mode=0o600)
        self._said_live = live

    def _look_for_copies(self) -> None:
        """Note that a copy of the live build is gone: a cleaner deletes files that nothing has read for long."""
        if self._copies is not None and self._live is not None and monotonic() > self._looked_at + _LOOK_SECONDS:
            self._looked_at = monotonic()
            if not self._copies.has_all(self._live):
                self._damaged = self._live.id

    def _repair(self) -> None:
        """Replace the damaged and lost copies of a build, and the build, which has mapped some of them."""
        id_ = self._damaged
        if self._copies is None or not id_ or monotonic() < self._repaired_at + _REPAIR_SECONDS:
            return
        self._repaired_at = monotonic()
        self._copies.repair(id_)
        self._damaged = ""
        if self._live is not None and self._live.id == id_:
            self._live = self._open(id_)
        self._pinned.pop(id_, None)

    # Opening

    def _open_first(self, pointer: Pointer) -> OpenBuild:
        """Open the build that the pointer names. If it is damaged, open the newest whole one of those before it."""
        try:
            self._store.stat(layout.record_name(layout.NO_BUILD_ID))
        except AccessDenied as error:
            self._log.line(f"the store denies access to missing objects, so unknown builds will be failures: {error}")
        for id_ in (pointer.build, *pointer.previous):
            with suppress(StorageError):  # the next poll logs why the live build cannot be opened
                return self._open(id_)
        return self._read(pointer.build)

    def _open(self, id_: str) -> OpenBuild:
        """Open a build, and read what every answer needs. Copies that are damaged are made again."""
        try:
            return self._prepared(id_)
        except DamagedObject:
            if self._copies is None:
                raise
        self._copies.repair(id_)
        return self._prepared(id_)

    def _prepared(self, id_: str) -> OpenBuild:
        build = self._read(id_)
        build.prepare(bulk_files=self._copies is None)  # those of a bucket are not copied
        return build

    def _read(self, id_: str) -> OpenBuild:
        store = self._copies.open(id_) if self._copies else self._store
        return OpenBuild(builds.open_build(store, id_, self.file_cache), self._cache, self._metrics.cache)
