"""Renders a diff report as one HTML page."""

import re
from collections.abc import Iterator
from typing import Any

from generator.compare.diff import PERCENT_FLOOR_EUROS
from generator.compare.figures import title
from generator.reading.diff.report import DiffReport, Row
from generator.reading.html.plot import Bar, Plot, plot
from generator.reading.html.render import render, set_name

# A row of the view `distribution`.
_Band = dict[str, Any]


def price_plots(bands: list[_Band]) -> dict[str, list[Plot]]:
    """Return the plots of each price, one per kind of product, in the order of the view `distribution`."""
    groups: dict[tuple[str, str], list[_Band]] = {}
    for band in bands:
        groups.setdefault((band["price"], band["kind"]), []).append(band)
    plots: dict[str, list[Plot]] = {}
    for (price, kind), group in groups.items():
        plots.setdefault(price, []).append(_plot(price, kind, group))
    return plots


def _plot(price: str, kind: str, bands: list[_Band]) -> Plot:
    moves = sum(band["moves"] for band in bands)
    return plot(
        f"{moves:,} moves of the price {price} ({kind}), by percent",
        [_bar(band) for band in bands],
        x_axis="change in percent",
        y_axis="prices",
        view=kind,
        placeholder="No price moved.",
    )


def _bar(band: _Band) -> Bar:
    color = "down" if band["low"] is None or band["low"] < 0 else "up"
    edge_label = "" if band["low"] is None else str(band["low"]).replace("-", "−")
    return Bar(band["moves"], f"{_range(band)}: {band['moves']:,}", edge_label=edge_label, color=color)


def _range(band: _Band) -> str:
    if band["low"] is None:
        return f"{_signed(band['high'])} % and below"
    if band["high"] is None:
        return f"{_signed(band['low'])} % and above"
    return f"{_signed(band['low'])} to {_signed(band['high'])} %"


def _signed(percent: int) -> str:
    return f"{percent:+}".replace("-", "−") if percent else "0"


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
