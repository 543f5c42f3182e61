"""A report as one HTML page that asks nothing of anybody: styles, plots and the little script are inside it."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import jinja2

from generator.diff import plot
from generator.diff.report import Report

_TEMPLATES = Path(__file__).parents[1] / "templates"


def as_html(report: Report) -> Iterator[str]:
    """The page in pieces."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {  # what the templates say numbers with
        "euros": _euros,
        "signed": _signed,
        "many": _many,
        "set_name": _set_name,
    }
    page = environment.get_template("diff.html.j2")
    yield from page.generate(
        report=report, tiles=_tiles(report), sets=_sets(report), plots=plot.plots(report.bands), size=plot
    )


def _tiles(report: Report) -> dict[str, int]:
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


def _sets(report: Report) -> list[str]:
    """Names of the sets that the page's products belong to, for its filter."""
    listings = [report.added, report.removed, report.renamed, report.moved]
    for moves in report.moves:
        listings += [*moves.largest.values(), *moves.nulls.values()]
    return sorted({_set_name(row) for listing in listings for row in listing.rows})


def _set_name(row: dict, prefix: str = "") -> str:
    name, id_ = row[f"{prefix}set_name"], row[f"{prefix}set_id"]
    return name or ("no set" if id_ is None else f"set {id_}")


def _euros(price: Decimal | None) -> str:
    return "–" if price is None else f"{price:,.2f}"


def _signed(number: Decimal | float | None) -> str:
    return "–" if number is None else f"{number:+,.2f}".replace("-", "−")


def _many(number: int) -> str:
    return f"{number:,}"
