"""Says whether a night was ordinary: its figures are compared with the reports of earlier nights."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from edge_auth.contract.store.interface import Store
from generator.releases.run_reports import PUBLISHED, read_reports

# A figure is ordinary if it is at most _FACTOR times the greatest one of the last _MAX_NIGHTS nights, and at least the
# least one divided by _FACTOR. Fewer than _MIN_NIGHTS nights say nothing.
_MAX_NIGHTS = 14
_MIN_NIGHTS = 3
_FACTOR = 2
# A count may differ by this much in any case.
_SMALL_COUNT = 10
# How many reports are read to find these nights.
_MAX_REPORTS = 60
_WEEK = timedelta(days=7)

# Counts by the names of `build/checks/differences.sql`.
Figures = dict[str, int]


@dataclass(frozen=True)
class FigureRow:
    """A figure of a night beside the same of earlier ones; None where there was no such night."""

    name: str
    tonight: int
    yesterday: int | None
    last_week: int | None
    ordinary: bool


@dataclass(frozen=True)
class NightComparison:
    """The figures of a night, and one sentence about them."""

    sentence: str
    rows: list[FigureRow]


def compare_night(store: Store, as_of: date, tonight: Figures) -> NightComparison:
    """Compare the figures of a night with those of the nights before its as-of day.

    Raises:
        StoreError: The reports cannot be read.
    """
    nights = list(itertools.islice(_earlier_nights(store, as_of), _MAX_NIGHTS))
    yesterday = nights[0][1] if nights else {}
    week_ago = next((figures for day, figures in nights if day <= as_of - _WEEK), {})
    rows = []
    for name, figure in tonight.items():
        earlier = [figures[name] for _, figures in nights if name in figures]
        rows.append(FigureRow(name, figure, yesterday.get(name), week_ago.get(name), _is_ordinary(figure, earlier)))
    return NightComparison(_sentence(rows, len(nights)), rows)


def _earlier_nights(store: Store, as_of: date) -> Iterator[tuple[date, Figures]]:
    """Yield the as-of day and the figures of published nights before a day, the newest first."""
    for report in itertools.islice(read_reports(store), _MAX_REPORTS):
        judgement: dict[str, Any] = report.get("judgement") or {}
        if report.get("outcome") == PUBLISHED and judgement.get("against"):
            day = date.fromisoformat(report["record"]["as_of"])
            if day < as_of:
                yield day, judgement["differences"]


def _is_ordinary(figure: int, earlier: list[int]) -> bool:
    if len(earlier) < _MIN_NIGHTS:
        return True
    return min(earlier) / _FACTOR - _SMALL_COUNT <= figure <= max(earlier) * _FACTOR + _SMALL_COUNT


def _sentence(rows: list[FigureRow], nights: int) -> str:
    if nights < _MIN_NIGHTS:
        return f"There are too few earlier nights ({nights}) to say whether this one is ordinary."
    unusual = [f"{row.tonight:,} {title(row.name)}" for row in rows if not row.ordinary]
    if unusual:
        return f"Not an ordinary night: {', '.join(unusual)}. The {nights} nights before had other figures."
    return f"An ordinary night: its figures are like those of the {nights} nights before."


def title(name: str) -> str:
    """Return the name of a figure for people."""
    return name.replace("_", " ")
