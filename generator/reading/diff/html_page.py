"""A comparison's report as one HTML page."""

from collections.abc import Iterator

from generator.reading.diff.price_plots import plots
from generator.reading.diff.report import DiffReport
from generator.reading.html.render import render, set_name


def as_html(report: DiffReport, beside: str | None = None) -> Iterator[str]:
    """The page in pieces.

    Args:
        beside: where the newer build's own report lies, to link to.
    """
    yield from render(
        "diff",
        {},
        report=report,
        tiles=_tiles(report),
        sets=_sets(report),
        plots=plots(report.bands),
        beside=beside,
    )


def _tiles(report: DiffReport) -> dict[str, int]:
    """The numbers that head the page."""
    of_all = {row["price"]: row for row in report.prices if row["kind"] == "all"}
    changed = next(row["changed"] for row in report.items if row["resource"] == "products")
    return {
        "products added": report.added.total,
        "products removed": report.removed.total,
        "products changed": changed,
        "products renamed": report.renamed.total,
        "in another set": report.moved.total,
        "trends up": of_all["trend"]["up"],
        "trends down": of_all["trend"]["down"],
        "watchlist changed": report.watchlist.total,
    }


def _sets(report: DiffReport) -> list[str]:
    """Names of the sets that the page's products belong to, for its filter."""
    listings = [report.added, report.removed, report.renamed, report.moved]
    for moves in report.moves:
        listings += [*moves.largest.values(), *moves.nulls.values()]
    return sorted({set_name(row) for listing in listings for row in listing.rows})
