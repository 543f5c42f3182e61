"""The reports, gate results and pages that nights leave in a store, and what a night reads of the nights before it.

gates/<build>.json                  the gate results of a build, beside its record, which depends on no night
reports/<run>.json                  what a run did: outcome, timings, counts, gate results
private/nights/<run>/report.html    the report of the build that it made
private/nights/<run>/diff.html      what that build changed, if a build was live before

`Past` is what gates read of the nights before, besides the live build.
"""

import itertools
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from generator import settings
from generator.clock import timestamp
from generator.errors import DamageError
from generator.lake.quarantine import ACCEPTED, read_quarantine
from generator.storage import layout
from generator.storage.builds import Build, Pointer, open_build, read_pointer
from generator.storage.errors import MissingObject, StorageError, StoreError
from generator.storage.stores.interface import Store, read_json

LATE = "sources-late"  # the remark on sources that stopped, slowed down or lost rows

# A fault often breaches many gates. These say most plainly what happened, the plainest first.
_TELLING = (
    *("tables-emptied", "products-lost", "prices-scaled", "days-scaled", "game-prices-lost", "set-prices-scaled"),
    *("prices-moved", "game-shrank", "prices-repeated", "names-changed", "products-moved"),
)

REPORT_PAGE, DIFF_PAGE = "report.html", "diff.html"
# The outcomes of a run. The first two are successes.
PUBLISHED, UNCHANGED = "published", "unchanged"
REFUSED, HELD, ROLLED_BACK, STALE, FAILED = "refused", "held", "rolled back", "stale", "failed"
NOT_EXPORTED = "not exported"  # the build is live, but the tree of plain files is not up to date
# Counts by the names of `compare.ordinary`.
Figures = dict[str, int]

# How many reports are read to find earlier nights.
_MAX_REPORTS = 60


@dataclass(frozen=True)
class Verdict:
    """The result of one gate."""

    gate: str
    value: float
    threshold: float  # the greatest value that passes
    breached: bool
    forced: bool  # whether the operator let a breached gate pass
    message: str
    figures: dict[str, Any]  # further columns of the gate's query
    tables: list[str] = field(default_factory=list)  # of the lake, with files for each day that the gate judges
    known_days: bool = False  # whether it judges only days that the live build has

    @property
    def stops(self) -> bool:
        """Whether the build may not be published."""
        return self.breached and not self.forced

    def line(self) -> str:
        """Return the verdict as one line of text with its figures."""
        worst = self.figures.get("worst") or {}
        if "ratio" in self.figures or (isinstance(worst, dict) and "ratio" in worst):  # the message says how many times
            return f"gate {self.gate}: {self.message} (up to {1 + self.threshold:.4g} times, or 1 / that, passes)"
        return f"gate {self.gate}: {self.message} ({self.value:.4g}, at most {self.threshold:.4g} passes)"


@dataclass(frozen=True)
class Judgement:
    """The results of all gates for a build, and its differences to the live build `against`."""

    against: str | None
    verdicts: list[Verdict]
    differences: dict[str, int]  # the counts of `compare.ordinary`
    indexes: list[dict[str, Any]]  # the rows of game_indexes (`build/checks/two_builds.sql`)
    remarks: list[Verdict] = field(default_factory=list)  # what is strange about the build and stops nothing
    columns: dict[str, list[float]] = field(default_factory=dict)  # measured by `compare.ordinary`, for later nights

    @property
    def breaches(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.stops]

    def in_short(self, details: str) -> str:
        """Return the most telling breach as a line, and how many more there are with the command that shows them."""
        first, *others = sorted(self.breaches, key=lambda verdict: (*_TELLING, verdict.gate).index(verdict.gate))
        return first.line() + (f"; {len(others)} more: {details}" if others else "")


NOT_JUDGED = Judgement(None, [], {}, [])


def write_judgement(store: Store, build_id: str, judgement: Judgement, *, run: str, now: datetime) -> None:
    """Write the gate results of a build beside its record. The record itself depends on no night."""
    fields = {"build": build_id, "run": run, "at": timestamp(now)} | asdict(judgement)
    data = json.dumps(fields, indent=1, ensure_ascii=False, default=str).encode() + b"\n"
    store.put(layout.gates_name(build_id), data)


def read_judgement(store: Store, build_id: str) -> dict[str, Any]:
    """Return the gate results of a build as JSON; empty if no night judged it, or if they are damaged."""
    with suppress(StoreError, ValueError):
        judgement: dict[str, Any] = read_json(store, layout.gates_name(build_id))
        return judgement
    return {}


def late_sources(store: Store, build_id: str) -> str | None:
    """Return what the gate results of a build say of late sources, or None."""
    remarks = read_judgement(store, build_id).get("remarks", [])
    return next((str(remark["message"]) for remark in remarks if remark["gate"] == LATE), None)


def breached_gates(store: Store, build_id: str) -> dict[str, list[str]]:
    """Return the gates that a build breached, forced or not, with the tables that they judge; none if unknown."""
    verdicts = read_judgement(store, build_id).get("verdicts", [])
    return {verdict["gate"]: verdict.get("tables", []) for verdict in verdicts if verdict["breached"]}


@dataclass(slots=True)
class RunReport:
    """The report of a nightly run."""

    run: str
    lake: str
    store: str
    started: str
    finished: str | None = None
    outcome: str = FAILED
    error: str | None = None
    failed_step: str | None = None
    build: str | None = None
    live_before: str | None = None
    live: str | None = None  # after the run
    data_day: str | None = None  # the newest day of its price guide, or its as-of day without one
    data_day_before: str | None = None
    advanced: bool = False  # whether that day is later than before
    made: list[str] = field(default_factory=list)
    damaged: dict[str, str] = field(default_factory=dict)  # by layer that was made again: what was wrong with it
    reread: list[str] = field(default_factory=list)  # layers of earlier nights that the run read again
    reread_bytes: int = 0
    record: dict[str, Any] = field(default_factory=dict)  # excerpt of that of the new `build`
    judgement: Judgement | None = None
    held: str = ""  # which games' prices that one lacks because they are held (`lake.quarantine.held_games`)
    quarantine: list[dict[str, Any]] = field(default_factory=list)  # the files that wait after the run
    games: list[dict[str, Any]] = field(default_factory=list)  # by the record of the live build
    exported: dict[str, Any] = field(default_factory=dict)
    tree: dict[str, Any] = field(default_factory=dict)
    pruned: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    layer_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """Whether the run published its build, or found nothing new."""
        return self.outcome in (PUBLISHED, UNCHANGED) and self.error is None

    def to_json(self) -> dict[str, Any]:
        """Return the report as the store keeps it; `judgement` is empty if there is none."""
        return asdict(self) | {"judgement": asdict(self.judgement) if self.judgement else {}}


def read_reports(store: Store) -> Iterator[dict[str, Any]]:
    """Yield the run reports of a store as JSON, newest first, each read when it is needed."""
    for name in sorted(store.list(layout.REPORTS), reverse=True):
        try:
            report = read_json(store, name)
        except (MissingObject, ValueError):  # pruned meanwhile, or not a report
            continue
        if isinstance(report, dict) and "run" in report:
            yield report


def newest_report(store: Store) -> dict[str, Any] | None:
    return next(read_reports(store), None)


def lost_pointer(store: Store) -> str | None:
    """Return what shows that a store without a pointer had one; None if nothing was ever live."""
    if night := next((report for report in read_reports(store) if report.get("live")), None):
        shown, way_out = f"the night {night['run']} left {night['live']} live", f"`cardpress publish {night['live']}"
    elif store.stat(layout.CHANGES_INDEX) is not None:
        shown = f"{layout.CHANGES_INDEX} shows that builds were live"
        way_out = "choose the live build by `cardpress publish BUILD"
    else:
        return None
    return f"{layout.POINTER} is missing, but {shown}: restore it from a backup, or {way_out} --store {store.location}`"


def earlier_nights(store: Store, as_of: date, nights: int) -> Iterator[tuple[date, dict[str, Any]]]:
    """Yield the as-of day and the gate results of up to this many published nights before a day, the newest first."""
    judged = (
        (date.fromisoformat(report["record"]["as_of"]), report["judgement"])
        for report in itertools.islice(read_reports(store), _MAX_REPORTS)
        if report.get("outcome") == PUBLISHED and (report.get("judgement") or {}).get("against")
    )
    yield from itertools.islice((night for night in judged if night[0] < as_of), nights)


def prune_run_reports(store: Store, max_reports: int, max_pages: int) -> None:
    """Delete all run reports but the newest `max_reports`, and all pages but those of the newest `max_pages` runs."""
    reports = sorted(store.list(layout.REPORTS))
    store.delete(reports[:-max_reports])
    pages = [(page, page.split("/")[2]) for page in store.list(layout.NIGHT_PAGES)]
    old_runs = sorted({run for _, run in pages})[:-max_pages]
    store.delete([page for page, run in pages if run in old_runs])


@dataclass(frozen=True)
class Past:
    """The nights before a night."""

    week: Build | None = None  # that was live about a week before
    before: Build | None = None  # that was live before the live one
    columns: Sequence[dict[str, list[float]]] = ()  # what these nights measured of tables (`compare.ordinary`)
    # The games of which a day was accepted since `week`, whose prices of then say nothing about tonight.
    accepted: frozenset[str] = frozenset()


NO_PAST = Past()


def read_past(store: Store, as_of: date) -> Past:
    """Return what the store has of the nights before a day."""
    nights = earlier_nights(store, as_of, settings.MEASURED_NIGHTS)
    columns = tuple(judgement.get("columns", {}) for _, judgement in nights)
    pointer, _ = read_pointer(store)
    before = _open_with_prices(store, pointer.previous[0]) if pointer and pointer.previous else None
    week = _week_before(pointer, store, as_of) if pointer else None
    # What a person accepted once is not asked again: whatever compares over days begins anew at that day.
    accepted = {
        file.game
        for file in (read_quarantine(store) if week else ())
        if week and file.day > week.as_of.isoformat() and file.verdict == ACCEPTED and file.table == "price_guide"
    }
    games = frozenset(game for game in accepted if game is not None)
    return Past(None if None in accepted else week, before, columns, games)


def _week_before(pointer: Pointer, store: Store, as_of: date) -> Build | None:
    """Return a build that was live about a week before, unless prices that a gate refused went live since.

    A person decided about these, so what was before them says nothing about tonight.
    """
    latest = (as_of - timedelta(days=settings.WEEK_DAYS)).isoformat()
    for moves, build in enumerate([pointer.build, *pointer.previous]):
        if any("price_guide" in tables for tables in breached_gates(store, build).values()):
            return None
        if moves and layout.day_of(build) <= latest and (opened := _open_with_prices(store, build)):
            return opened
    return None


def _open_with_prices(store: Store, build: str) -> Build | None:
    """Return a build whose prices can be read; None for one that was pruned or is damaged."""
    from generator.pack.verify import checked_file
    from generator.storage.catalogue import PRICES  # imports Arrow, which `show` and `builds` do not need

    with suppress(StorageError, DamageError):
        opened = open_build(store, build)
        checked_file(opened.layers[layout.CATALOGUE], PRICES)
        return opened
    return None
