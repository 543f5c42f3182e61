"""The gate results of a build: their object in the store beside the build's record, and what they mean for the lake.

Each gate's SQL names its tables. A night that is refused puts the day files of these tables that the live build did not
read in quarantine. Files that a person accepted are no reason to refuse a night, and neither is the way back from data
that went live although gates had refused it.
"""

import json
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from edge_auth.builds import layout
from edge_auth.builds.builds import Build, open_build
from edge_auth.errors import EdgeError, MissingObject, StoreError
from edge_auth.store.interface import Store, read_json
from generator.clock import timestamp
from generator.errors import DamageError
from generator.lake.files import PRICE_TABLES, FileKey
from generator.lake.quarantine import QuarantinedFile, files_read, original_of, unread_files

LATE = "sources-late"  # the remark on sources that stopped, slowed down or lost rows

# A fault often breaches many gates. These say most plainly what happened, the plainest first.
_TELLING = [
    *("tables-emptied", "products-lost", "prices-scaled", "days-scaled", "game-prices-lost", "set-prices-scaled"),
    *("prices-moved", "game-shrank", "prices-repeated", "names-changed", "products-moved"),
]


@dataclass(frozen=True)
class Verdict:
    """The result of one gate.

    Attributes:
        threshold: The greatest value that passes.
        forced: Whether the operator let a breached gate pass.
        figures: Further columns of the gate's query.
        tables: The tables of the lake with files for each day that the gate judges.
        known_days: Whether it judges only days that the live build has.
    """

    gate: str
    value: float
    threshold: float
    breached: bool
    forced: bool
    message: str
    figures: dict[str, Any]
    tables: list[str] = field(default_factory=list)
    known_days: bool = False

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
    """The results of all gates for a build, and its differences to the live build `against`.

    Attributes:
        differences: The counts of `compare.figures`.
        indexes: The rows of game_indexes (`build/checks/two_builds.sql`).
        remarks: What is strange about the build and stops nothing.
        columns: What `compare.columns` measured, for the nights that follow.
    """

    against: str | None
    verdicts: list[Verdict]
    differences: dict[str, int]
    indexes: list[dict[str, Any]]
    remarks: list[Verdict] = field(default_factory=list)
    columns: dict[str, list[float]] = field(default_factory=dict)

    @property
    def breaches(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.stops]

    def in_short(self, details: str) -> str:
        """Return the most telling breach as a line, and how many more there are with the command that shows them."""
        order = {gate: place for place, gate in enumerate(_TELLING)}
        first, *others = sorted(self.breaches, key=lambda verdict: order.get(verdict.gate, len(order)))
        return first.line() + (f"; {len(others)} more: {details}" if others else "")


NOT_JUDGED = Judgement(None, [], {}, [])


def write_judgement(store: Store, build_id: str, judgement: Judgement, *, run: str, now: datetime) -> None:
    """Write the gate results of a build beside its record. The record itself depends on no night."""
    fields = {"build": build_id, "run": run, "at": timestamp(now)} | asdict(judgement)
    data = json.dumps(fields, indent=1, ensure_ascii=False, default=str).encode() + b"\n"
    store.put(layout.gates_name(build_id), data)


def read_judgement(store: Store, build_id: str) -> dict[str, Any] | None:
    """Return the gate results of a build as JSON, or None if no night judged it."""
    try:
        judgement: dict[str, Any] = read_json(store, layout.gates_name(build_id))
    except MissingObject:
        return None
    except ValueError as error:
        raise StoreError(f"{layout.gates_name(build_id)} in {store.location} is not JSON") from error
    return judgement


def known_judgement(store: Store, build_id: str) -> dict[str, Any]:
    """Return the same; empty too if it is damaged and says nothing any more."""
    with suppress(StoreError):
        return read_judgement(store, build_id) or {}
    return {}


def late_sources(store: Store, build_id: str) -> str | None:
    """Return what the gate results of a build say of late sources, or None."""
    remarks = known_judgement(store, build_id).get("remarks", [])
    return next((str(remark["message"]) for remark in remarks if remark["gate"] == LATE), None)


def breached_gates(store: Store, build_id: str) -> dict[str, list[str]]:
    """Return the gates that a build breached, forced or not, with the tables that they judge; none if unknown."""
    verdicts = known_judgement(store, build_id).get("verdicts", [])
    return {verdict["gate"]: verdict.get("tables", []) for verdict in verdicts if verdict["breached"]}


def refused_files(
    judgement: Judgement, new: Build, live: Build, guilty: Mapping[str, Collection[str]]
) -> dict[FileKey, dict[str, float]]:
    """Return the files that a refused build read, with the gates that refused each and their values.

    `guilty` are the games that breach gates by themselves: only their rows are refused, or all if there are none.
    """
    refused: dict[FileKey, dict[str, float]] = {}
    for verdict in judgement.breaches:
        games: list[str | None] = [game for game, gates in guilty.items() if verdict.gate in gates]
        for file in _judged_files(verdict, new, live):
            original = original_of(new.record, file)
            for game in (games if file.table in PRICE_TABLES else []) or [None]:
                refused.setdefault(original._replace(game=game), {})[verdict.gate] = verdict.value
    return refused


def forgive(
    judgement: Judgement,
    new: Build,
    live: Build,
    accepted: Collection[QuarantinedFile],
    judged: Callable[[Build], Judgement],
) -> tuple[Judgement, list[str]]:
    """Let breached gates pass that judge what a person has decided, and say which builds were compared with for that.

    A gate passes that also passes against a build which a person took for right, or that judged accepted files alone.
    `judged` judges the new build against another one.
    """
    said = []
    for right, tables, why in filter(None, (_way_back(judgement, live), _newest_accepted(new, live, accepted))):
        if judgement.breaches:
            with suppress(EdgeError, DamageError):  # pruned or damaged: nothing else to compare with
                passed = {v.gate: v for v in judged(open_build(live.store, right)).verdicts if not v.breached}
                verdicts = [
                    passed.get(v.gate, v) if v.stops and tables.intersection(v.tables) else v
                    for v in judgement.verdicts
                ]
                judgement = replace(judgement, verdicts=verdicts)
                said.append(why)
    files = {file.key.whole for file in accepted}

    def is_accepted(verdict: Verdict) -> bool:
        judged_files = _judged_files(verdict, new, live) if verdict.stops and files else set()
        return bool(judged_files) and judged_files <= files

    verdicts = [replace(verdict, forced=True) if is_accepted(verdict) else verdict for verdict in judgement.verdicts]
    return replace(judgement, verdicts=verdicts), said


def _way_back(judgement: Judgement, live: Build) -> tuple[str, set[str], str] | None:
    """Return what was live before refused data went live, and the tables of the gates that refused it and breach now.

    If the live build breached gates that the new one breaches too, its data was bad, or the new one's.
    """
    back = breached_gates(live.store, live.id)
    tables = {table for verdict in judgement.breaches for table in back.get(verdict.gate, [])}
    before = (read_judgement(live.store, live.id) or {}).get("against") if tables else None
    return before and (before, tables, f"{live.id} was live although gates refused it: compared with {before} as well")


def _newest_accepted(
    new: Build, live: Build, accepted: Collection[QuarantinedFile]
) -> tuple[str, set[str], str] | None:
    """Return the refused build that had the newest accepted day, and the tables of the accepted days that came in."""
    unread = {file.whole for file in unread_files(new, live)} if accepted else set()
    believed = [file for file in accepted if file.key.whole in unread and file.build != new.id]
    if not believed:
        return None
    newest = max(believed, key=lambda file: (file.day, file.since)).build
    said = f"accepted days came in: compared with {newest}, which had the last of them, as well"
    return newest, {file.table for file in believed}, said


def _judged_files(verdict: Verdict, new: Build, live: Build) -> set[FileKey]:
    if not verdict.tables:
        return set()
    known = {(file.table, file.day) for file in files_read(live)}
    worst = {row["day"] for row in verdict.figures.get("days") or () if row["distance"] > verdict.threshold}
    return {
        file
        for file in unread_files(new, live)
        if file.table in verdict.tables
        and (not verdict.known_days or (file.table, file.day) in known)
        and (not worst or file.day in worst)
    }
