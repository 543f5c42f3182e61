"""Runs a night: build, verify, judge by gates, publish, smoke test and prune, then write a report and pages.

A night holds the lock `private/nightly.lock`. It leaves `gates/<build>.json` (`compare.judgements`), and a report and
pages (`compare.run_reports`). A night that is refused or fails leaves the live build as it was. The report says whether
the night moved the day of the data forward, and a day that the operator expects is checked.
"""

import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import date, timedelta
from typing import Any, TypeVar

from edge_auth.builds import layout
from edge_auth.builds.builds import open_build
from edge_auth.builds.pointer import Pointer, live_build_id, read_pointer
from edge_auth.errors import AccessDenied, DamagedObject, EdgeError, NoLiveBuild, StoreError, Throttled, UnknownBuild
from edge_auth.store.interface import Store
from generator.clock import Clock, timestamp
from generator.compare.comparison import Comparison
from generator.compare.judgements import Judgement
from generator.compare.run_reports import (
    HELD,
    NOT_EXPORTED,
    PUBLISHED,
    REFUSED,
    ROLLED_BACK,
    STALE,
    UNCHANGED,
    RunReport,
    newest_report,
)
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
from generator.lake.quarantine import QuarantinedFile, describe_waiting, read_quarantine
from generator.making.game_coverage import cover_games
from generator.nightly import steps
from generator.nightly.notices import Notices
from generator.nightly.steps import NightOptions
from generator.pack.verify import Rotation
from generator.reading.outlying_days import outlying_days
from generator.reading.report import write_pages
from generator.releases.locks import Lock, locked
from generator.releases.reserve import free_reserve_if_full, with_reserve
from generator.releases.termination import end_by_error, hold_back

TODAY, YESTERDAY = "today", "yesterday"  # the words of `expected_day`

_Result = TypeVar("_Result")
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


def expected_day(text: str, clock: Clock) -> str:
    """Return the day that `today`, `yesterday` or `YYYY-MM-DD` means, in UTC.

    Raises:
        ValueError: The text is none of these.
    """
    today = clock().date()
    days = {TODAY: today, YESTERDAY: today - timedelta(days=1)}
    return (days[text] if text in days else date.fromisoformat(text)).isoformat()


class Night:
    """One nightly run over a lake and a store.

    Args:
        notices: The services that get notices of the run.
    """

    def __init__(self, options: NightOptions, notices: Notices | None = None):
        self.options, self.store, self.progress = options, options.store, options.progress
        self.notices = notices or Notices(options.progress)
        self.report = RunReport(options.run, options.lake, self.store.location, timestamp(options.clock()))
        self._comparison: Comparison | None = None

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
        run, clock, seconds = self.options.run, self.options.clock, self.options.lease
        lock = locked(self.store, layout.NIGHTLY_LOCK, what="nightly", run=run, clock=clock, seconds=seconds)
        free_reserve_if_full(self.store)
        with hold_back(), lock as lease:
            self.progress.say(f"nightly of {self.options.lake} into {self.store.location}")
            self.notices.start(run)
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
                    write_night_pages(self.options, self.report, self._comparison)
                self._compare_with(None)
                self.notices.finish(self.report)

    def _write_report(self) -> None:
        """Write the report. After a failed night its own error matters more than that of the report."""
        try:
            write_report(self.options, self.report)
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

    def _run_steps(self, lease: Lock) -> None:
        report, days = self.report, self.options.reread_days
        report.data_day_before = live_data_day(self.store)
        rotation = Rotation(self.store, days, self.options.clock) if days else None
        self._do("build", steps.make_new_build, rotation, lambda: self._prune(lease))
        build = report.build or ""
        self._do("verify", steps.verify_build, build)
        if rotation:
            steps.save_rotation(self.options, report, rotation, build)
        pointer, _ = read_pointer(self.store)
        report.live_before = pointer.build if pointer else None
        try:
            with self._deciding():
                self._bring_live(build, pointer, lease)
        finally:
            self._prune(lease)  # also after a refused build, which fills the disk too
        with self._deciding():
            self._check_day()

    def _bring_live(self, build: str, pointer: Pointer | None, lease: Lock) -> None:
        """Publish the build, unless it is live or something stops it, then export it."""
        live = pointer.build if pointer else None
        if build == live:
            self.report.outcome = UNCHANGED
            self.progress.say(f"{build} is live already: nothing to publish")
        else:
            judgement, held = self._judge_and_hold(build, pointer)
            if any(file.game is not None for file in held):  # the other games' day is good
                self.progress.say(describe_waiting(held, self.store.location))
                self._do("rebuild", steps.remake_build)
                build = self.report.build or ""
                judgement, held = self._judge_and_hold(build, pointer)
            steps.check_may_publish(self.options, build, judgement, pointer, held)
            lease.check()
            self._do("publish", steps.publish_build, build, self._comparison)
            self._do("smoke", steps.smoke_test_build, build)
        if self.options.export is not None:
            self._do("export", steps.export_build, build, self.options.export)

    def _judge_and_hold(self, build: str, pointer: Pointer | None) -> tuple[Judgement, list[QuarantinedFile]]:
        judgement = self._judge(build, pointer)
        assert self._comparison is not None
        return judgement, steps.hold_refused_files(self.options, self._comparison, build, judgement)

    def _judge(self, build: str, pointer: Pointer | None) -> Judgement:
        """Compare the build with the live one. If that one is damaged for good, compare with the last sound one."""
        live, previous = (pointer.build, pointer.previous) if pointer else (None, [])
        try:
            return self._judge_against(build, live)
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
                judged = self._judge_against(build, other)
                if other != live:
                    self.progress.say(f"{live} stays damaged, as lake or program have changed: compared with {other}")
                return judged
        raise BuildError(
            f"{build} was built but not published, because there is nothing to compare it with: {message_of(damage)}; "
            f"`cardpress publish {build} --store {self.store.location}` publishes it without gates"
        )

    def _judge_against(self, build: str, other: str | None) -> Judgement:
        def judge(options: NightOptions, report: RunReport) -> Judgement:
            old, new = open_build(self.store, other) if other else None, open_build(self.store, build)
            comparison = Comparison(old, new, options.resources)
            self._compare_with(comparison)
            return steps.judge_build(options, report, comparison)

        return self._do("gates", judge)

    def _compare_with(self, comparison: Comparison | None) -> None:
        """Keep the night's comparison, which publish and pages read after the gates, instead of the one before."""
        if self._comparison:
            self._comparison.close()
        self._comparison = comparison

    def _check_day(self) -> None:
        note_day(self.report, self.store)
        if not self.report.advanced:
            self.progress.say(f"the data did not advance: its newest day is {self.report.data_day}, as before")
        if self.options.expect_day:
            check_data_day(self.report, self.options.expect_day)

    def _prune(self, lease: Lock) -> None:
        lease.check()
        self._do("prune", steps.prune_store)

    def _do(self, name: str, step: Callable[..., _Result], *arguments: object) -> _Result:
        """Run a step, and return its result."""
        with self._timed(name):
            return step(self.options, self.report, *arguments)

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


def write_report(options: NightOptions, report: RunReport) -> None:
    """Complete the report with the live build, its day and its games, and write it into the store."""
    store = options.store
    note_day(report, store)
    if report.live is not None:
        report.games = _games(report.live, options)
    report.quarantine = _quarantine(options)
    report.outlying = _outlying(options, report)
    report.finished = timestamp(options.clock())
    data = json.dumps(report.to_json(), indent=1, ensure_ascii=False, default=str).encode()
    with_reserve(store, lambda: store.put(layout.report_name(report.run), data + b"\n"))


def write_night_pages(options: NightOptions, report: RunReport, comparison: Comparison | None) -> None:
    """Write the pages of a build that is not live yet, published or not. SIGTERM ends only this.

    Args:
        comparison: That of the gates, if they came so far.
    """
    if report.build is None or report.outcome == UNCHANGED:
        return
    try:
        with end_by_error("night"):
            folder = write_pages(
                options.store,
                report,
                options.clock,
                comparison=comparison,
                resources=options.resources,
                progress=options.progress,
            )
        options.progress.say(f"pages: {folder}")
    except (GeneratorError, EdgeError, OSError) as error:  # missing pages are no reason to fail a night
        options.progress.say(f"the pages were not written: {error}")


def live_data_day(store: Store) -> str | None:
    """Return the newest day of the price guide in the live build, or None if no build is live or its record is damaged.

    For a build without a price guide, return its as-of day.

    Raises:
        StoreError: The pointer or the record cannot be read.
    """
    with suppress(NoLiveBuild, DamagedObject):
        record = open_build(store, live_build_id(store)).record
        day: str = record["freshness"]["catalogue"]["price_guide_day"] or record["as_of"]
        return day
    return None


def note_day(report: RunReport, store: Store) -> None:
    """Note in a report which build is live after the run, its day, and whether that day advanced.

    Raises:
        StoreError: The pointer or the record cannot be read.
    """
    pointer, _ = read_pointer(store)
    report.live = pointer.build if pointer else None
    report.data_day = live_data_day(store)
    report.advanced = (report.data_day or "") > (report.data_day_before or "")


def check_data_day(report: RunReport, expected: str) -> None:
    """Check that the data of the live build is of the expected day, or newer.

    Raises:
        StaleError: It is older.
    """
    if (report.data_day or "") < expected:
        raise StaleError(
            f"the price guide of the live build {report.live} is of {report.data_day}, but {expected} was expected: "
            "import the missing day, then run the night again"
        )


def _quarantine(options: NightOptions) -> list[dict[str, Any]]:
    """Return the files that wait in quarantine; nothing if it is damaged, which has failed the night."""
    try:
        return [asdict(file) for file in read_quarantine(options.store) if file.waits]
    except EdgeError:
        return []


def _outlying(options: NightOptions, report: RunReport) -> list[str] | None:
    """Return the days that lie apart in what earlier versions published; None if an earlier night has looked."""
    store = options.store
    if report.live_before is None or report.live is None or "outlying" in (newest_report(store) or {}):
        return None
    try:
        lines = [day.line(store.location) for day in outlying_days(open_build(store, report.live))]
    except (GeneratorError, EdgeError, OSError) as error:  # missing figures are no reason to fail a night
        options.progress.say(f"the history of {report.live} was not checked for days that lie apart: {error}")
        return None
    for line in lines:
        options.progress.say(f"strange: {line}")
    return lines


def _games(live: str, options: NightOptions) -> list[dict[str, Any]]:
    """Return the coverage of each game in the live build."""
    try:
        return [asdict(game) for game in cover_games(open_build(options.store, live))]
    except (GeneratorError, EdgeError, OSError) as error:  # missing figures are no reason to fail a night
        options.progress.say(f"the games of {live} were not counted: {error}")
        return []
