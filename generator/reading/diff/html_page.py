"""Renders a diff report as one HTML page."""

import re
from collections.abc import Iterator

from generator.compare.diff import PERCENT_FLOOR_EUROS
from generator.compare.figures import title
from generator.reading.diff.price_plots import price_plots
from generator.reading.diff.report import DiffReport, Row
from generator.reading.html.render import render, set_name

# What nearly every night changes: the members of a Card with prices, and the watchlist.
_DAILY = re.compile(r"products (price_guide|listing|filtered_price)\b|watchlist ")


def as_html(report: DiffReport, build_report: str | None = None) -> Iterator[str]:
    """Yield the page in pieces.

    Args:
        build_report: Relative URL of the newer build's report, to link to.
    """
    daily = [row for row in report.fields if _DAILY.match(f"{row['resource']} {row['field']}")]
    yield from render(
        "diff",
        {"figure_title": title},
        report=report,
        names=_build_names(report),
        figures=sorted(report.night.rows, key=lambda row: row.ordinary),
        large=sorted((row for row in report.fields if row not in daily), key=_items, reverse=True),
        daily=daily,
        sets=_set_names(report),
        plots=price_plots(report.bands),
        build_report=build_report,
        floor=PERCENT_FLOOR_EUROS,
    )


def _build_names(report: DiffReport) -> list[str]:
    """Return what tells the older build from the newer one: their days, or the ids of two builds of one day."""
    name = "id" if report.old["as_of"] == report.new["as_of"] else "as_of"
    return [report.old[name], report.new[name]]


def _items(field: Row) -> int:
    """Return in how many items a field differs."""
    count: int = field["changed"] + field["appeared"] + field["went"]
    return count


def _set_names(report: DiffReport) -> list[str]:
    """Return the names of the sets that the page's products belong to, for its filter."""
    lists = [report.added, report.removed, report.renamed, report.moved, report.rarities]
    for moves in report.moves:
        lists += [*moves.largest.values(), *moves.nulls.values()]
    return sorted({set_name(row) for list_ in lists for row in list_.rows})
