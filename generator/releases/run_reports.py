"""What nights leave in a store: a report of each run, and the pages that people read.

reports/<run>.json                  what a run did: outcome, timings, counts, gates
private/nights/<run>/report.html    the operator's report of the build that it made
private/nights/<run>/diff.html      what that build changed; absent where there was nothing to compare
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from edge_auth.contract import layout
from edge_auth.contract.store.interface import Store
from edge_auth.errors import MissingObject

REPORT_PAGE, DIFF_PAGE = "report.html", "diff.html"
# How a run ends: the first two are what it is for.
PUBLISHED, UNCHANGED = "published", "unchanged"
REFUSED, HELD, ROLLED_BACK, FAILED = "refused", "held", "rolled back", "failed"


@dataclass
class RunReport:
    """What a run did, as it is kept. `seconds` is by step, `layer_seconds` by layer that it made."""

    run: str
    lake: str
    store: str
    started: str
    finished: str | None = None
    outcome: str = FAILED
    error: str | None = None
    build: str | None = None
    live_before: str | None = None
    live: str | None = None
    made: list[str] = field(default_factory=list)
    record: dict[str, Any] = field(default_factory=dict)
    judgement: dict[str, Any] = field(default_factory=dict)
    pruned: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    layer_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        return self.outcome in (PUBLISHED, UNCHANGED) and self.error is None


def reports(store: Store) -> Iterator[dict]:
    """The reports of a store, newest first, each read when it is asked for."""
    for name in sorted(store.list(layout.REPORTS), reverse=True):
        try:
            report = json.loads(store.get(name))
        except (MissingObject, ValueError):  # pruned meanwhile, or not ours
            continue
        if isinstance(report, dict) and "run" in report:
            yield report


def newest_report(store: Store, wanted: Callable[[dict], bool] = lambda report: True) -> dict | None:
    """The newest report of a night that is wanted, or None."""
    return next(filter(wanted, reports(store)), None)


def prune_runs(store: Store, reports_kept: int, pages_kept: int) -> None:
    """Delete the oldest reports, and the pages of the oldest runs, beyond so many."""
    kept = sorted(store.list(layout.REPORTS))
    store.delete(kept[:-reports_kept])
    pages = sorted(store.list(layout.NIGHT_PAGES))
    runs = sorted({layout.run_of_page(page) for page in pages})
    old = set(runs[:-pages_kept])
    store.delete([page for page in pages if layout.run_of_page(page) in old])
