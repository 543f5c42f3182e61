"""Runs a night: build, verify, judge by gates, publish, smoke test and prune, then write a report and pages.

A night holds the lock `private/nightly.lock`. It leaves `gates/<build>.json` (`releases.judgements`), and a report and
pages (`releases.run_reports`). A night that is refused or fails leaves the live build as it was.
"""

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from edge_auth.contract import layout
from edge_auth.contract.builds import Build, live_build_id, open_build, read_pointer
from edge_auth.contract.store.interface import Store
from edge_auth.errors import DamagedObject, EdgeError
from generator import settings
from generator.clock import Clock, timestamp
from generator.errors import (
    BusyError,
    DamageError,
    ExportError,
    GateError,
    GeneratorError,
    HoldError,
    PublishError,
    SmokeError,
    SpaceError,
    StaleError,
    StepError,
    TerminatedError,
    message_of,
)
from generator.lake.lake import open_lake
from generator.making.make import BuildResult, make_build
from generator.nightly.data_day import check_data_day, live_data_day, record_data_day
from generator.nightly.gates import judge
from generator.nightly.notices import Notices
from generator.nightly.options import NightOptions
from generator.nightly.results import write_night_pages, write_report
from generator.nightly.smoke import smoke_test
from generator.pack.read_ahead import ReadAhead
from generator.releases.judgements import Judgement, write_judgement
from generator.releases.lease import Lease
from generator.releases.prune import describe, prune
from generator.releases.publish import publish, rollback
from generator.releases.reserve import free_reserve_if_full, keep_reserve, with_reserve
from generator.releases.rotation import Rotation
from generator.releases.run_reports import (
    FAILED,
    HELD,
    NOT_EXPORTED,
    PUBLISHED,
    REFUSED,
    ROLLED_BACK,
    STALE,
    UNCHANGED,
    RunReport,
    prune_run_reports,
)
from generator.releases.termination import end_by_error, hold_back
from generator.releases.verify import verify
from generator.terminal.progress import Progress
from generator.tree.export import export


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
                write_report(self.report, self.store, self.options, clock=self.clock, progress=self.progress)
                if with_pages:
                    write_night_pages(self.report, self.store, self.options, self.progress)
                self.notices.finish(self.report)

    def _with_step(self, error: Exception) -> Exception:
        """Return an error that names the step that failed, unless it says what was decided instead."""
        step, report = self.report.failed_step, self.report
        if step is None or isinstance(error, PublishError | BusyError | StaleError | TerminatedError):
            return error
        live = f"; {report.build} is live" if report.outcome == PUBLISHED else ""
        return StepError(f"the step {step} failed: {message_of(error)}{live}")

    def _run_steps(self, lease: Lease) -> None:
        self.report.data_day_before = live_data_day(self.store)
        result = self._build(lease)
        pointer, _ = read_pointer(self.store)
        self.report.live_before = pointer.build if pointer else None
        if self.report.live_before == result.id:
            self.report.outcome = UNCHANGED
            self.progress.say(f"{result.id} is live already: nothing to publish")
            try:
                self._export(result.id)
            finally:
                self._prune(lease)
        else:
            try:
                self._publish(result.id, self.report.live_before, bool(pointer and pointer.hold), lease)
            finally:
                self._prune(lease)  # also after a refused build, which fills the disk too
        self._check_day()

    def _check_day(self) -> None:
        record_data_day(self.report, self.store)
        self.report.live = live_build_id(self.store)
        if not self.report.advanced:
            self.progress.say(f"the data did not advance: its newest day is {self.report.data_day}, as before")
        if self.options.expect_day:
            try:
                check_data_day(self.report, self.options.expect_day)
            except StaleError:
                self.report.outcome = STALE
                raise

    def _build(self, lease: Lease) -> BuildResult:
        days = self.options.reread_days
        rotation = Rotation(self.store, days, self.clock) if days else None
        with self._timed("build"):
            try:
                result = self._make_build(rotation=rotation)
            except SpaceError as error:
                self.progress.say(f"{error}: this run prunes, then tries again")
                self._prune(lease)
                result = self._make_build(rotation=rotation)
            except (DamageError, DamagedObject) as error:
                self.progress.say(f"{error}; this run reads every layer and repairs it")
                result = self._make_build(repair=True)
        self.report.build, self.report.made, self.report.layer_seconds = result.id, result.made, result.seconds
        self.report.damaged, self.report.other_bytes = result.damaged, result.other_bytes
        self.report.record = {name: result.record[name] for name in ("as_of", "objects", "bytes", "freshness")}
        self.report.record["left_out"] = result.record["left_out"]
        with self._timed("verify"):
            build = open_build(self.store, result.id)
            verify(build, self.progress, only=result.made)
        if rotation:
            self.report.reread, self.report.reread_bytes = rotation.read, rotation.bytes
            try:
                rotation.save(build.layers.values(), result.made)
            except EdgeError as error:  # policies of older versions refuse it; the next night reads the same layers
                self.progress.say(f"which layers were read again was not recorded: {error}")
        return result

    def _make_build(self, *, rotation: Rotation | None = None, repair: bool = False) -> BuildResult:
        options = self.options
        result = make_build(
            open_lake(self.lake, progress=self.progress),
            self.store,
            threads=options.threads,
            memory=options.memory,
            scheduler=options.scheduler,
            progress=self.progress,
            repair=repair,
            rotation=rotation,
            clock=self.clock,
        )
        for layer, why in result.damaged.items():
            self.progress.say(f"{layer} was damaged and was made again: {why}")
        return result

    def _publish(self, new: str, old: str | None, hold: bool, lease: Lease) -> None:
        """Publish the build if its gates pass and no rollback holds publishing back."""
        judgement = self._judge(open_build(self.store, new), open_build(self.store, old) if old else None)
        if judgement.breaches:
            self.report.outcome = REFUSED
            lines = "; ".join(verdict.line() for verdict in judgement.breaches)
            raise GateError(f"{new} was built but not published: {lines}")
        if hold:
            self.report.outcome = HELD
            raise HoldError(
                f"{new} was built and passed all gates but was not published: "
                f"a rollback to {old} holds publishing back; "
                f"`cardpress publish {new} --store {self.store.location}` publishes it and lifts the hold"
            )
        lease.check()
        with self._timed("publish"):
            publish(self.store, new, by_hand=False, clock=self.clock)
        self._smoke(new)
        self.report.outcome = PUBLISHED
        self.progress.say(f"published: {new} is live")
        self._export(new)

    def _export(self, build: str) -> None:
        """Bring the tree of plain files to the live build. If that fails, the build stays live."""
        target = self.options.export
        if target is None:
            return
        try:
            with self._timed("export"):
                opened = open_build(ReadAhead(self.store), build)
                result = export(opened, target, gzip=False, progress=self.progress)
        except (GeneratorError, EdgeError, OSError) as error:
            self.report.outcome = NOT_EXPORTED
            raise ExportError(f"{build} is live, but {target} was not brought up to date: {error}") from error
        self.report.exported = {"target": target, **asdict(result)}
        self.progress.say(f"exported: {result.written:,} files written to {target}, {result.deleted:,} deleted")

    def _judge(self, new: Build, old: Build | None) -> Judgement:
        with self._timed("gates"):
            judgement = judge(
                old, new, now=self.clock(), thresholds=self.options.thresholds, forced=self.options.forced
            )
            write_judgement(self.store, new.id, judgement, run=self.report.run, now=self.clock())
        self.report.judgement = asdict(judgement)
        for verdict in judgement.verdicts:
            if verdict.breached:
                self.progress.say(verdict.line() + (": forced" if verdict.forced else ""))
        return judgement

    def _smoke(self, build: str) -> None:
        try:
            with self._timed("smoke"):
                smoke_test(self.store, build)
        except (GeneratorError, EdgeError) as error:
            self.report.outcome = ROLLED_BACK
            try:
                live = rollback(self.store, only_from=build, clock=self.clock)
            except GeneratorError as not_rolled_back:
                self.report.outcome = FAILED
                raise SmokeError(f"{build} is live and fails its smoke test: {error}; {not_rolled_back}") from error
            raise SmokeError(f"{build} failed its smoke test and was rolled back, {live} is live: {error}") from error

    def _prune(self, lease: Lease) -> None:
        lease.check()
        options = self.options
        try:
            with self._timed("prune"):
                prune_run_reports(self.store, settings.MAX_RUN_REPORTS, settings.MAX_RUN_PAGES)
                run, rules, clock = self.report.run, options.rules, self.clock
                deletions = with_reserve(
                    self.store, lambda: prune(self.store, rules, run=run, clock=clock, seconds=options.lease)
                )
                keep_reserve(self.store)
        except BusyError as error:  # another prune is running
            self.progress.say(f"not pruned: {error}")
            self.report.failed_step = None
            return
        self.report.pruned = deletions.summary()
        self.progress.say(f"pruned: {describe(deletions)}")

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        started, outer, self.report.failed_step = time.perf_counter(), self.report.failed_step, step
        try:
            yield
            self.report.failed_step = outer
        finally:
            self.report.seconds[step] = round(time.perf_counter() - started, 3)
            self.progress.say(f"{step}: {self.report.seconds[step]:.1f} s")
