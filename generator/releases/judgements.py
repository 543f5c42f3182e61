"""What the gates said of a build, as it is kept beside the build's record."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from edge_auth.contract import layout
from edge_auth.contract.store.interface import Store
from edge_auth.errors import MissingObject, StoreError
from generator.clock import timestamp


@dataclass(frozen=True)
class Verdict:
    """What a gate said. `forced`: it was breached, and a person let it pass."""

    gate: str
    value: float
    threshold: float
    breached: bool
    forced: bool
    message: str
    figures: dict[str, Any]

    @property
    def stops(self) -> bool:
        return self.breached and not self.forced

    def line(self) -> str:
        """The verdict in words, with its figures."""
        return f"gate {self.gate}: {self.message} ({self.value:.4g}, at most {self.threshold:.4g} passes)"


@dataclass(frozen=True)
class Judgement:
    """What the gates said of a build, and how it differs from the live one in counts."""

    against: str | None
    verdicts: list[Verdict]
    differences: dict[str, int]

    @property
    def breaches(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.stops]


def keep_judgement(store: Store, build_id: str, judgement: Judgement, *, run: str, now: datetime) -> None:
    """Keep what the gates said of a build beside its record, which says nothing of nights."""
    said = {"build": build_id, "run": run, "at": timestamp(now)} | asdict(judgement)
    store.put(layout.gates_name(build_id), json.dumps(said, indent=1, ensure_ascii=False, default=str).encode() + b"\n")


def read_judgement(store: Store, build_id: str) -> dict | None:
    """What `keep_judgement` kept, or None where no night judged the build."""
    try:
        return json.loads(store.get(layout.gates_name(build_id)))
    except MissingObject:
        return None
    except ValueError as error:
        raise StoreError(f"{layout.gates_name(build_id)} in {store.location} is not JSON") from error
