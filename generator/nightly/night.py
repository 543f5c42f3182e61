"""A night without a person: build, verify, gates, publish, smoke test, prune; a report of it and its pages.

    private/nightly.lock     held while a night runs
    gates/<build>.json       what the gates said of a build when it was last judged
    reports/, private/nights/                    see `runs`

Nothing here decides what is right: a refused night leaves the pointer as it was, and says why in one line.
"""

import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from edge_auth.contract import layout
from edge_auth.contract.builds import Build, open_build, read_pointer
from edge_auth.contract.store.interface import Store
from edge_auth.errors import EdgeError
from generator import settings
from generator.build.make import BuildResult, make_build
from generator.clock import Clock, timestamp
from generator.errors import BusyError, GateError, GeneratorError, HoldError, SmokeError
from generator.lake.lake import open_lake
from generator.nightly.gates import judge
from generator.nightly.smoke import smoke_test
from generator.progress import Progress
from generator.reading.report.write_pages import write_pages
from generator.releases.judgements import Judgement, keep_judgement
from generator.releases.lease import Lease
from generator.releases.prune import Rules, describe, prune
from generator.releases.publish import publish, rollback
from generator.releases.run_reports import (
    FAILED,
    HELD,
    PUBLISHED,
    REFUSED,
    ROLLED_BACK,
    UNCHANGED,
    RunReport,
    prune_runs,
)
from generator.releases.verify import verify


@dataclass(frozen=True)
class Options:
    """What an operator can set of a night.

    Attributes:
        thresholds: by gate, instead of the defaults.
        forced: gates that let pass this once.
        rules: what is kept when it prunes.
        lease: seconds for which a killed run's lock stands.
        pages: whether the run leaves its report and what it changed as pages in the store.
    """

    thresholds: dict[str, float] = field(default_factory=dict)
    forced: tuple[str, ...] = ()
    rules: Rules = field(default_factory=Rules)
    threads: int | None = None
    memory: str | None = None
    scheduler: str | None = None
    lease: float = settings.LEASE_SECONDS
    pages: bool = False


def run_id(clock: Clock) -> str:
    """A name for a run, in the order of time."""
    return f"{clock():%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


class Night:
    """One run over a lake and a store.

    Args:
        run: its id, which stands in each line of its log.
    """

    def __init__(self, lake: str, store: Store, options: Options, *, run: str, clock: Clock, progress: Progress):
        self.lake, self.store, self.options, self.clock, self.progress = lake, store, options, clock, progress
        self.report = RunReport(run, lake, store.location, timestamp(clock()))

    def go(self) -> None:
        """Run the night and keep its report, whatever comes.

        Raises:
            BusyError: another night is at work; nothing was done, and there is no report.
            GateError: a gate was breached; nothing was published.
            HoldError: a rollback holds publishing back; nothing was published.
            SmokeError: the published build did not answer, and was rolled back.
            GeneratorError, EdgeError: building, publishing or pruning failed.
        """
        run, seconds = self.report.run, self.options.lease
        with Lease(
            self.store, layout.NIGHTLY_LOCK, what="nightly", run=run, clock=self.clock, seconds=seconds
        ) as lease:
            self.progress.say(f"nightly of {self.lake} into {self.store.location}")
            try:
                self._steps(lease)
            except (GeneratorError, EdgeError, OSError) as error:
                self.report.error = str(error)
                raise
            finally:
                self._keep_report()
                self._keep_pages()

    def _steps(self, lease: Lease) -> None:
        result = self._build()
        pointer, _ = read_pointer(self.store)
        self.report.live_before = pointer.build if pointer else None
        if self.report.live_before == result.id:
            self.report.outcome = UNCHANGED
            self.progress.say(f"{result.id} is live already: nothing to publish")
            self._prune(lease)
            return
        try:
            self._put_live(result.id, self.report.live_before, bool(pointer and pointer.hold), lease)
        finally:
            self._prune(lease)  # refused nights fill the disk as well

    def _build(self) -> BuildResult:
        options = self.options
        with self._timed("build"):
            result = make_build(
                open_lake(self.lake, progress=self.progress),
                self.store,
                threads=options.threads,
                memory=options.memory,
                scheduler=options.scheduler,
                progress=self.progress,
                clock=self.clock,
            )
        self.report.build, self.report.made, self.report.layer_seconds = result.id, result.made, result.seconds
        self.report.record = {name: result.record[name] for name in ("as_of", "objects", "bytes", "freshness")}
        self.report.record["left_out"] = result.record["left_out"]
        with self._timed("verify"):
            verify(open_build(self.store, result.id), self.progress, only=result.made)
        return result

    def _put_live(self, new: str, old: str | None, hold: bool, lease: Lease) -> None:
        judgement = self._judge(open_build(self.store, new), open_build(self.store, old) if old else None)
        if judgement.breaches:
            self.report.outcome = REFUSED
            lines = "; ".join(verdict.line() for verdict in judgement.breaches)
            raise GateError(f"{new} was built but not published: {lines}")
        if hold:
            self.report.outcome = HELD
            raise HoldError(
                f"{new} was built and passed all gates but was not published: a rollback to {old} holds; "
                f"`cardpress publish {new} --store {self.store.location}` publishes it and lifts the hold"
            )
        lease.check()
        with self._timed("publish"):
            publish(self.store, new, by_hand=False, clock=self.clock)
        self._smoke(new)
        self.report.outcome = PUBLISHED
        self.progress.say(f"published: {new} is live")

    def _judge(self, new: Build, old: Build | None) -> Judgement:
        with self._timed("gates"):
            judgement = judge(
                old, new, now=self.clock(), thresholds=self.options.thresholds, forced=self.options.forced
            )
            keep_judgement(self.store, new.id, judgement, run=self.report.run, now=self.clock())
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
            except GeneratorError as refused:
                self.report.outcome = FAILED
                raise SmokeError(f"{build} is live and fails its smoke test: {error}; {refused}") from error
            raise SmokeError(f"{build} failed its smoke test and was rolled back, {live} is live: {error}") from error

    def _prune(self, lease: Lease) -> None:
        lease.check()
        options = self.options
        try:
            with self._timed("prune"):
                prune_runs(self.store, settings.REPORTS_KEPT, settings.PAGES_KEPT)
                done = prune(self.store, options.rules, run=self.report.run, clock=self.clock, seconds=options.lease)
        except BusyError as error:  # it is being done
            self.progress.say(f"not pruned: {error}")
            return
        self.report.pruned = done.summary()
        self.progress.say(f"pruned: {describe(done)}")

    def _keep_report(self) -> None:
        pointer, _ = read_pointer(self.store)
        self.report.live = pointer.build if pointer else None
        self.report.finished = timestamp(self.clock())
        data = json.dumps(asdict(self.report), indent=1, ensure_ascii=False, default=str).encode()
        self.store.put(layout.report_name(self.report.run), data + b"\n")

    def _keep_pages(self) -> None:
        """The pages of a build that is new, published or not."""
        if not self.options.pages or self.report.build is None or self.report.outcome == UNCHANGED:
            return
        try:
            options = self.options
            where = write_pages(
                self.store, self.report, threads=options.threads, memory=options.memory, progress=self.progress
            )
            self.progress.say(f"pages: {where}")
        except (GeneratorError, EdgeError, OSError) as error:  # a night is no failure because nobody can read of it
            self.progress.say(f"the pages were not written: {error}")

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.report.seconds[step] = round(time.perf_counter() - started, 3)
            self.progress.say(f"{step}: {self.report.seconds[step]:.1f} s")
