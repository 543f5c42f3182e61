"""What a build changes, as counts: the figures of a night, and whether they are like those of the nights before."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np

from edge_auth.builds import layout
from edge_auth.builds.builds import Build
from edge_auth.builds.bulk import FILES
from edge_auth.builds.layers import map_table
from edge_auth.builds.market import LINES, LISTS
from edge_auth.store.interface import Store
from generator import settings
from generator.compare.comparison import Comparison
from generator.compare.judgements import known_judgement
from generator.compare.run_reports import Figures, earlier_nights
from generator.lake.quarantine import files_read, unread_files
from generator.pack.verify import checked_file

# An ordinary figure is at most so many times the greatest one of the nights before, or the least one divided by it.
_FACTOR = 2
_SMALL_COUNT = 10  # a count may differ by this much in any case
# Counts of days are ordinary only between the least and the greatest one of the nights before.
_OF_DAYS = ("days_added", "past_days_changed")
# What it means that a figure is 0 tonight and was not in the nights before.
_NOTHING = {
    "filtered_changed": "no offers were checked",
    "trends_changed": "no price of the guide changed",
    "days_added": "no day came in",
    "movers_lists_changed": "the movers are those of the night before",
}


def count_differences(comparison: Comparison) -> Figures:
    """Return the counts of what a build adds, lacks and changes; without an old build only products and sets."""
    old, new, _ = comparison.old, comparison.new, comparison.products
    counts: Figures = comparison.db.answer("checks/differences").to_pylist()[0]
    if old is None:
        return counts
    before, after = _movers(old), _movers(new)
    gone = files_read(old) - files_read(new)
    days = {file.day for file in gone | unread_files(new, old)}  # of which only one of the lakes had this file
    names, names_before = ({entry["name"] for entry in json.loads(build.manifest())[FILES]} for build in (new, old))
    added = sum(day > old.as_of.isoformat() for day in days)
    return counts | {
        "days_added": added,
        "past_days_changed": len(days) - added,
        "movers_lists_changed": sum(before.get(key) != after.get(key) for key in before | after),
        "bulk_files_added": len(names - names_before),
    }


def _movers(build: Build) -> dict[tuple[bool, str], bytes]:
    """Return a value for each list of movers that is the same for equal lists."""
    lines, lists = (map_table(checked_file(build.layers[layout.MOVERS], stem)) for stem in (LINES, LISTS))
    hashes = np.array([hash(line) for line in lines["line"].to_pylist()], np.int64)
    rows = zip(*(lists[name].to_pylist() for name in ("confirmed", "key", "lines")), strict=True)
    return {(of_confirmed, key): hashes[np.array(places, int)].tobytes() for of_confirmed, key, places in rows}


class FigureRow(NamedTuple):
    """A figure of a night beside the same of earlier ones; None where there was no such night."""

    name: str
    tonight: int
    yesterday: int | None
    last_week: int | None
    ordinary: bool


@dataclass(frozen=True)
class NightComparison:
    """The figures of a night, one sentence about them, and what more gates and remarks say.

    `days` are the as-of days of the night before and of the one a week before, or words where there was none.
    """

    sentence: str
    rows: list[FigureRow]
    more: Sequence[str] = ()
    days: tuple[str, str] = ("night before", "week before")

    @property
    def facts(self) -> list[FigureRow]:
        """What a reader looks for: unusual figures first, then those that are not 0."""
        return sorted((row for row in self.rows if row.tonight or not row.ordinary), key=lambda row: row.ordinary)

    @property
    def earlier(self) -> list[tuple[str, str]]:
        """The nights that facts are compared with: the name of their value in a row, and their day."""
        nights = zip(("yesterday", "last_week"), self.days, strict=True)
        return [(name, day) for name, day in nights if any(getattr(row, name) is not None for row in self.facts)]

    @property
    def zeros(self) -> str:
        """The names of the figures that are 0, as on other nights; '' for none."""
        return ", ".join(title(row.name) for row in self.rows if not row.tonight and row.ordinary)


def strange_by_gates(store: Store, build: str, against: str) -> list[str]:
    """Return the messages of the breached gates and of the remarks, if a night compared these builds."""
    judgement = known_judgement(store, build)
    if judgement.get("against") != against:
        return []
    breached = (verdict for verdict in judgement.get("verdicts", []) if verdict["breached"])
    return [verdict["message"] for verdict in (*breached, *judgement.get("remarks", []))]


def compare_night(store: Store, as_of: date, tonight: Figures, strange: Sequence[str] = ()) -> NightComparison:
    """Compare the figures of a night, and what gates and remarks say of it, with the nights before its as-of day."""
    judged = earlier_nights(store, as_of, settings.USUAL_NIGHTS)
    nights: list[tuple[date, Figures]] = [(day, judgement["differences"]) for day, judgement in judged]
    none: Figures = {}
    before = nights[0] if nights else ("night before", none)
    week = next((night for night in nights if night[0] <= as_of - timedelta(days=7)), ("week before", none))
    rows = []
    for name, figure in tonight.items():
        earlier = [figures[name] for _, figures in nights if name in figures]
        rows.append(
            FigureRow(name, figure, before[1].get(name), week[1].get(name), _is_ordinary(name, figure, earlier))
        )
    return NightComparison(_sentence(rows, len(nights), strange), rows, strange[1:], (str(before[0]), str(week[0])))


def _is_ordinary(name: str, figure: int, earlier: list[int]) -> bool:
    if len(earlier) < settings.ENOUGH_NIGHTS:
        return True
    if name in _OF_DAYS:
        return min(earlier) <= figure <= max(earlier)
    return min(earlier) / _FACTOR - _SMALL_COUNT <= figure <= max(earlier) * _FACTOR + _SMALL_COUNT


def _sentence(rows: list[FigureRow], nights: int, strange: Sequence[str]) -> str:
    if strange:
        more = f"; and {len(strange) - 1} more" if len(strange) > 1 else ""
        return f"Not an ordinary night: {strange[0]}{more}."
    if nights < settings.ENOUGH_NIGHTS:
        return f"There are too few earlier nights ({nights}) to say whether this one is ordinary."
    unusual = [
        _NOTHING.get(row.name, f"0 {title(row.name)}") if row.tonight == 0 else f"{row.tonight:,} {title(row.name)}"
        for row in rows
        if not row.ordinary
    ]
    if unusual:
        return f"Not an ordinary night: {', '.join(unusual)}. The {nights} nights before had other figures."
    return f"An ordinary night: its figures are like those of the {nights} nights before."


def title(name: str) -> str:
    """Return the name of a figure for people."""
    return name.replace("_", " ")
