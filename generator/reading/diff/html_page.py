"""Renders a diff report as one HTML page."""

from collections.abc import Iterator

from generator.reading.diff.compare import PERCENT_FLOOR_EUROS
from generator.reading.diff.ordinary import title
from generator.reading.diff.price_plots import price_plots
from generator.reading.diff.report import DiffReport
from generator.reading.html.render import render, set_name


def as_html(report: DiffReport, build_report: str | None = None) -> Iterator[str]:
    """Yield the page in pieces.

    Args:
        build_report: Relative URL of the newer build's report, to link to.
    """
    yield from render(
        "diff",
        {"figure_title": title},
        report=report,
        tiles=_tiles(report),
        sets=_set_names(report),
        plots=price_plots(report.bands),
        build_report=build_report,
        floor=PERCENT_FLOOR_EUROS,
    )


def _tiles(report: DiffReport) -> dict[str, int]:
    """Return the figures at the head of the page."""
    all_kinds = {row["price"]: row for row in report.prices if row["kind"] == "all"}
    return {
        "products added": report.added.total,
        "products removed": report.removed.total,
        "products changed, but for days": report.products_changed,
        "products renamed": report.renamed.total,
        "in another set": report.moved.total,
        "trends up": all_kinds["trend"]["up"],
        "trends down": all_kinds["trend"]["down"],
        "watchlist changed": report.watchlist.total,
    }


def _set_names(report: DiffReport) -> list[str]:
    """Return the names of the sets that the page's products belong to, for its filter."""
    lists = [report.added, report.removed, report.renamed, report.moved, report.rarities]
    for moves in report.moves:
        lists += [*moves.largest.values(), *moves.nulls.values()]
    return sorted({set_name(row) for list_ in lists for row in list_.rows})
