"""Runs a night: build, verify, judge by gates, publish, smoke test and prune, then write a report and pages.

A night holds the lock `private/nightly.lock`. It leaves `gates/<build>.json` (`releases.judgements`), and a report and
pages (`releases.run_reports`). A night that is refused or fails leaves the live build as it was.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from edge_auth.builds import layout
from edge_auth.builds.pointer import Pointer, live_build_id, read_pointer
from edge_auth.errors import AccessDenied, EdgeError, StoreError, Throttled, UnknownBuild
from edge_auth.store.interface import Store
from generator.clock import Clock, timestamp
from generator.errors import (
    BuildError,
    BusyError,
    DamageError,
    ExportError,
    GateError,
    GeneratorError,
    HoldError,
    PublishError,
    SmokeError,
    StaleError,
    StepError,
    TerminatedError,
    is_disk_full,
    message_of,
)
from generator.nightly import steps
from generator.nightly.data_day import check_data_day, day_facts, live_data_day
from generator.nightly.notices import Notices
from generator.nightly.options import NightOptions
from generator.nightly.results import write_night_pages, write_report
from generator.nightly.steps import Facts, NightContext
from generator.releases.lease import Lease
from generator.releases.reserve import free_reserve_if_full
from generator.releases.rotation import Rotation
from generator.releases.run_reports import (
    HELD,
    NOT_EXPORTED,
    PUBLISHED,
    REFUSED,
    ROLLED_BACK,
    STALE,
    UNCHANGED,
    RunReport,
)
from generator.releases.termination import end_by_error, hold_back
from generator.terminal.progress import Progress

# The outcomes of a night that decided against its build. After any other error, the outcome stays as it was.
_OUTCOMES: dict[type[Exception], str] = {
    GateError: REFUSED,
    HoldError: HELD,
    SmokeError: ROLLED_BACK,
    ExportError: NOT_EXPORTED,
    StaleError: STALE,
}


def new_run_id(clock: Clock) -> str:
    """Return the id of a new run. Ids sort by time, also those of runs that begin in the same second."""
    now = clock()
    return f"{now:%Y%m%dT%H%M%S}.{now.microsecond // 1000:03}Z-{secrets.token_hex(3)}"


class Night:
    """One nightly run over a lake and a store.

    Args:
        run: The id of the run.
        notices: The services that get notices of the run.
    """

    def __init__(
        self,
        lake: str,
        store: Store,
        options: NightOptions,
        *,
        run: str,
        clock: Clock,
        progress: Progress,
        notices: Notices | None = None,
    ):
        self.lake, self.store, self.options, self.clock, self.progress = lake, store, options, clock, progress
        self._context = NightContext(run, lake, store, options, clock, progress)
        self.notices = notices or Notices(progress)
        self.report = RunReport(run, lake, store.location, timestamp(clock()))

    def execute(self) -> None:
        """Run the night and write its report, also if the night fails.

        Raises:
            BusyError: Another night is running. Nothing was done, and there is no report.
            GateError: A gate was breached. Nothing was published.
            HoldError: A rollback holds publishing back. Nothing was published.
            SmokeError: The published build could not be read, and was rolled back.
            StaleError: The data of the live build is older than `expect_day`.
            ExportError: The build is live, but the tree of plain files was not brought up to date.
            GeneratorError, EdgeError: Building, publishing or pruning failed.
        """
        run, seconds = self.report.run, self.options.lease
        lock = Lease(self.store, layout.NIGHTLY_LOCK, what="nightly", run=run, clock=self.clock, seconds=seconds)
        free_reserve_if_full(self.store)
        with hold_back(), lock as lease:
            self.progress.say(f"nightly of {self.lake} into {self.store.location}")
            self.notices.start(self.report.run)
            with_pages = self.options.pages
            try:
                with end_by_error("night"):
                    self._run_steps(lease)
            except (GeneratorError, EdgeError, OSError) as error:
                named = self._with_step(error)
                self.report.error = message_of(named)
                with_pages &= not isinstance(error, TerminatedError)  # which has to end soon
                if named is error:
                    raise
                raise named from error
            finally:
                self._write_report()
                if with_pages:
                    write_night_pages(self.report, self.store, self.options, clock=self.clock, progress=self.progress)
                self.notices.finish(self.report)

    def _write_report(self) -> None:
        """Write the report. After a failed night its own error matters more than that of the report."""
        try:
            write_report(self.report, self.store, self.options, clock=self.clock, progress=self.progress)
        except (GeneratorError, EdgeError, OSError) as error:
            if self.report.error is None:
                raise
            self.progress.say(f"the report was not written: {message_of(error)}")

    def _with_step(self, error: Exception) -> Exception:
        """Return an error that names the step that failed, unless it says what was decided instead."""
        step, report = self.report.failed_step, self.report
        if step is None or isinstance(error, PublishError | BusyError | StaleError | TerminatedError):
            return error
        live = f"; {report.build} is live" if report.outcome == PUBLISHED else ""
        return StepError(f"the step {step} failed: {message_of(error)}{live}")

    def _run_steps(self, lease: Lease) -> None:
        report, days = self.report, self.options.reread_days
        report.data_day_before = live_data_day(self.store)
        rotation = Rotation(self.store, days, self.clock) if days else None
        new = self._do("build", steps.make_new_build, rotation, lambda: self._prune(lease))
        self._do("verify", steps.verify_build, new["build"], new["made"])
        if rotation:
            self._collect(steps.save_rotation(self._context, rotation, new["build"], new["made"]))
        pointer, _ = read_pointer(self.store)
        report.live_before = pointer.build if pointer else None
        try:
            with self._deciding():
                self._bring_live(new["build"], pointer, lease)
        finally:
            self._prune(lease)  # also after a refused build, which fills the disk too
        with self._deciding():
            self._check_day()

    def _bring_live(self, build: str, pointer: Pointer | None, lease: Lease) -> None:
        """Publish the build, unless it is live or something stops it, then export it."""
        live = pointer.build if pointer else None
        if build == live:
            self._collect(Facts({"outcome": UNCHANGED}, [f"{build} is live already: nothing to publish"]))
        else:
            judgement = self._judge(build, pointer)["judgement"]
            held = steps.hold_refused_files(self._context, build, judgement)
            steps.check_may_publish(self._context, build, judgement, pointer, held)
            lease.check()
            self._do("publish", steps.publish_build, build)
            self._do("smoke", steps.smoke_test_build, build)
        if self.options.export is not None:
            self._do("export", steps.export_build, build, self.options.export)

    def _judge(self, build: str, pointer: Pointer | None) -> Mapping[str, Any]:
        """Compare the build with the live one. If that one is damaged for good, compare with the last sound one."""
        live, previous = (pointer.build, pointer.previous) if pointer else (None, [])
        try:
            return self._do("gates", steps.judge_build, build, live)
        except (DamageError, StoreError) as error:
            if isinstance(error, AccessDenied | Throttled) or is_disk_full(error):
                raise
            damage = error
        self.progress.say(f"{message_of(damage)}; this run reads every layer and repairs it")
        self.report.failed_step = None
        self._do("repair", steps.repair_builds, live)
        for other in (live, *previous):
            self.report.failed_step = None
            with suppress(DamageError, StoreError, UnknownBuild):
                judged = self._do("gates", steps.judge_build, build, other)
                if other != live:
                    self.progress.say(f"{live} stays damaged, as lake or program have changed: compared with {other}")
                return judged
        raise BuildError(
            f"{build} was built but not published, because there is nothing to compare it with: {message_of(damage)}; "
            f"`cardpress publish {build} --store {self.store.location}` publishes it without gates"
        )

    def _check_day(self) -> None:
        self.report.add(day_facts(self.store, self.report.data_day_before))
        self.report.live = live_build_id(self.store)
        if not self.report.advanced:
            self.progress.say(f"the data did not advance: its newest day is {self.report.data_day}, as before")
        if self.options.expect_day:
            check_data_day(self.report, self.options.expect_day)

    def _prune(self, lease: Lease) -> None:
        lease.check()
        self._do("prune", steps.prune_store)

    def _do(self, name: str, step: Callable[..., Facts], *arguments: Any) -> Mapping[str, Any]:
        """Run a step, and return its fields of the report."""
        with self._timed(name):
            facts = step(self._context, *arguments)
        return self._collect(facts)

    def _collect(self, facts: Facts) -> Mapping[str, Any]:
        self.report.add(facts.fields)
        for line in facts.lines:
            self.progress.say(line)
        return facts.fields

    @contextmanager
    def _deciding(self) -> Iterator[None]:
        """Record what an error means for the build."""
        try:
            yield
        except (GeneratorError, EdgeError) as error:
            self.report.outcome = _OUTCOMES.get(type(error), self.report.outcome)
            raise

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        """Measure a step. If it fails, it is the failed step of the report."""
        started, outer, self.report.failed_step = time.perf_counter(), self.report.failed_step, step
        try:
            yield
            self.report.failed_step = outer
        finally:
            self.report.seconds[step] = round(time.perf_counter() - started, 3)
            self.progress.say(f"{step}: {self.report.seconds[step]:.1f} s")
