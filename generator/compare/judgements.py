"""The gate results of a build, and their object in the store beside the build's record."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from edge_auth.builds import layout
from edge_auth.errors import MissingObject, StoreError
from edge_auth.store.interface import Store
from generator.clock import timestamp

# A fault often breaches many gates. These say most plainly what happened, the plainest first.
_TELLING = [
    *("tables-emptied", "products-lost", "prices-scaled", "days-scaled", "game-prices-lost", "set-prices-scaled"),
    *("prices-moved", "game-shrank", "prices-repeated", "names-changed", "products-moved"),
]


@dataclass(frozen=True)
class Verdict:
    """The result of one gate.

    Attributes:
        value: What the gate measured.
        threshold: The greatest value that passes.
        breached: Whether the value exceeds the threshold.
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
        """Whether the gate stops the build from being published."""
        return self.breached and not self.forced

    def line(self) -> str:
        """Return the verdict as one line of text with its figures."""
        if self.is_ratio:  # the message says how many times
            return f"gate {self.gate}: {self.message} (up to {1 + self.threshold:.4g} times, or 1 / that, passes)"
        return f"gate {self.gate}: {self.message} ({self.value:.4g}, at most {self.threshold:.4g} passes)"

    @property
    def is_ratio(self) -> bool:
        """Whether the value is the distance of a ratio from 1, and the message names the ratio."""
        worst = self.figures.get("worst") or {}
        return "ratio" in self.figures or (isinstance(worst, dict) and "ratio" in worst)


@dataclass(frozen=True)
class Judgement:
    """The results of all gates for a build, and its differences to the live build `against`.

    Attributes:
        differences: The counts of `compare.figures`.
        indexes: For each game the index of the market, now and on the newest day of the live build; see the view
            game_indexes in `build/checks/two_builds.sql`.
        remarks: What is strange about the build and stops nothing.
    """

    against: str | None
    verdicts: list[Verdict]
    differences: dict[str, int]
    indexes: list[dict[str, Any]]
    remarks: list[Verdict] = field(default_factory=list)

    @property
    def breaches(self) -> list[Verdict]:
        """The verdicts that stop the build from being published."""
        return [verdict for verdict in self.verdicts if verdict.stops]

    def in_short(self, details: str) -> str:
        """Return the most telling breach as a line, and how many more there are.

        Args:
            details: The command that shows all.
        """
        order = {gate: place for place, gate in enumerate(_TELLING)}
        first, *others = sorted(self.breaches, key=lambda verdict: order.get(verdict.gate, len(order)))
        return first.line() + (f"; {len(others)} more: {details}" if others else "")


NOT_JUDGED = Judgement(None, [], {}, [])


LATE = "sources-late"  # the remark on sources that stopped, slowed down or lost rows


def late_sources(judgement: Mapping[str, Any] | None) -> str | None:
    """Return what stored gate results say of late sources, or None."""
    remarks = (judgement or {}).get("remarks", [])
    return next((str(remark["message"]) for remark in remarks if remark["gate"] == LATE), None)


def write_judgement(store: Store, build_id: str, judgement: Judgement, *, run: str, now: datetime) -> None:
    """Write the gate results of a build beside its record. The record itself depends on no night."""
    fields = {"build": build_id, "run": run, "at": timestamp(now)} | asdict(judgement)
    data = json.dumps(fields, indent=1, ensure_ascii=False, default=str).encode() + b"\n"
    store.put(layout.gates_name(build_id), data)


def read_judgement(store: Store, build_id: str) -> dict[str, Any] | None:
    """Return the gate results of a build as JSON, or None if no night judged it.

    Raises:
        StoreError: The object is not JSON.
    """
    try:
        judgement: dict[str, Any] = json.loads(store.get(layout.gates_name(build_id)))
    except MissingObject:
        return None
    except ValueError as error:
        raise StoreError(f"{layout.gates_name(build_id)} in {store.location} is not JSON") from error
    return judgement


def breached_gates(store: Store, build_id: str) -> dict[str, list[str]]:
    """Return the gates that a build breached, forced or not, with the tables that they judge; none if unknown."""
    try:
        judgement = read_judgement(store, build_id) or {}
    except StoreError:  # damaged: it says nothing any more
        judgement = {}
    return {v["gate"]: v.get("tables", []) for v in judgement.get("verdicts", []) if v["breached"]}
