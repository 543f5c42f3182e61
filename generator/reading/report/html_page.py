"""Renders the report of a build as one HTML page."""

from collections.abc import Iterator

from generator.lake.quarantine import QuarantinedFile, describe_waiting
from generator.making.game_coverage import GUIDE_COLUMNS, coverage
from generator.reading.html.plot import Bar, Plot, plot
from generator.reading.html.render import render
from generator.reading.report.summary import BuildSummary, HistoryRow, Row

_PRICE_TITLES = {"trend": "Trend", "low": "Low", "filtered": "Lowest under the seller filter"}
_SOURCE_TITLES = {
    "price_guide": "Price guide",
    "listings": "List pages",
    "filtered_checks": "Filtered checks",
    "watch_checks": "Watch checks",
}
_FRESH_DAYS = 2  # bars of older rows have the warning color
_MAX_DAY_LABELS = 7


def as_html(summary: BuildSummary, diff_page: str | None = None) -> Iterator[str]:
    """Yield the page in pieces.

    Args:
        diff_page: Relative URL of the page that shows what the build changed, to link to.
    """
    sources = dict.fromkeys(row["source"] for row in summary.counts.ages)
    yield from render(
        "report",
        {"source_title": _source_title, "age": format_age},
        summary=summary,
        moment=f"{summary.moment:%Y-%m-%d %H:%M} UTC",
        tiles=_tiles(summary),
        prices=_PRICE_TITLES,
        distributions={price: _distributions(summary, price) for price in _PRICE_TITLES},
        ages={source: _ages(summary, source) for source in sources},
        products=_products(summary.history),
        seconds=_seconds(summary.history),
        gates=_gates(summary),
        games=list(coverage(summary.counts.games)),
        guide_columns=GUIDE_COLUMNS,
        diff_page=diff_page,
        quarantine=_quarantine(summary),
    )


def format_age(hours: float) -> str:
    """Format an age, in hours up to three days and in days beyond."""
    return f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} d"


def _source_title(table: str) -> str:
    return _SOURCE_TITLES.get(table, table)


def _tiles(summary: BuildSummary) -> dict[str, str]:
    """Return the figures at the head of the page."""
    record = summary.record
    fresh = record["freshness"]
    counts = {
        "products": fresh["catalogue"]["products"],
        "singles": fresh["catalogue"]["singles"],
        "sealed": fresh["catalogue"]["sealed"],
        "sets": fresh["catalogue"]["sets"],
        "tracked": fresh["watchlist"]["products"],
        "objects": sum(record["objects"].values()),
    }
    tiles = {name: f"{count:,}" for name, count in counts.items()}
    return tiles | {"megabytes": f"{sum(record['bytes'].values()) / 1e6:,.1f}", "gates": _gates(summary)}


def _gates(summary: BuildSummary) -> str:
    """Return the gate results in one or two words."""
    if summary.judgement is None:
        return "not judged"
    breached = [verdict["forced"] for verdict in summary.judgement["verdicts"] if verdict["breached"]]
    counts = (
        f"{breached.count(forced)} {word}"
        for forced, word in ((False, "breached"), (True, "forced"))
        if forced in breached
    )
    return ", ".join(counts) or "passed"


def _quarantine(summary: BuildSummary) -> str:
    """Return the files that waited in quarantine after the night, and the command that ends it; '' for none."""
    night = summary.night or {}
    files = [QuarantinedFile(**file) for file in night.get("quarantine", [])]
    return describe_waiting(files, night["store"]) if files else ""


def _distributions(summary: BuildSummary, price: str) -> list[Plot]:
    rows = [row for row in summary.counts.distribution if row["price"] == price]
    kinds = dict.fromkeys(row["kind"] for row in rows)
    return [_distribution(price, kind, [row for row in rows if row["kind"] == kind]) for kind in kinds]


def _distribution(price: str, kind: str, rows: list[Row]) -> Plot:
    products = sum(row["products"] for row in rows)
    bars = [Bar(row["products"], f"{_band(row)}: {row['products']:,}", edge_label=f"{row['low']:g}") for row in rows]
    label = f"{products:,} prices {price} ({kind}), by euros"
    return plot(label, bars, x_axis="euros", y_axis="products", view=kind, placeholder="No product has this price.")


def _band(row: Row) -> str:
    return f"{row['low']:g} euros and above" if row["high"] is None else f"{row['low']:g} to {row['high']:g} euros"


def _ages(summary: BuildSummary, source: str) -> Plot:
    rows = [row for row in summary.counts.ages if row["source"] == source]
    bars = [
        Bar(row["products"], f"{_days_title(row)}: {row['products']:,}", label=_days_label(row), color=_age_color(row))
        for row in rows
    ]
    label = f"Products by the days between the newest row of {source} and the as-of day"
    return plot(
        label, bars, x_axis="days before the as-of day", y_axis="products", placeholder="There are no products."
    )


def _age_color(row: Row) -> str:
    return "down" if row["low"] is None or row["low"] > _FRESH_DAYS else "up"


def _days_label(row: Row) -> str:
    if row["low"] is None:
        return "none"
    if row["high"] is None:
        return f"{row['low']}+"
    return f"{row['low']}" if row["high"] == row["low"] + 1 else f"{row['low']}–{row['high'] - 1}"


def _days_title(row: Row) -> str:
    return "no row" if row["low"] is None else f"{_days_label(row)} days"


def _products(history: list[HistoryRow]) -> Plot:
    bars = [
        Bar(row.products, f"{row.build}: {row.products:,} products", label=_day_label(place, len(history), row.as_of))
        for place, row in enumerate(history)
    ]
    return plot("Products of each build of the history", bars, y_axis="products", placeholder="No build has products.")


def _seconds(history: list[HistoryRow]) -> Plot:
    nights = [(row, row.seconds) for row in history if row.seconds is not None]
    bars = [
        Bar(round(seconds), f"{row.run}: {seconds:,.1f} s", label=_day_label(place, len(nights), row.as_of))
        for place, (row, seconds) in enumerate(nights)
    ]
    return plot("Seconds of each night", bars, y_axis="seconds", placeholder="No night took a second or more.")


def _day_label(place: int, bars: int, day: str) -> str:
    """Return month and day for some of the bars, so that the labels do not touch."""
    return day[5:] if (bars - 1 - place) % max(1, -(-bars // _MAX_DAY_LABELS)) == 0 else ""
