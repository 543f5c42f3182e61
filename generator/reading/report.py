"""The report of a build: collects what it shows, and renders it as an HTML page, alone or with the pages of a night.

The summary has the record, the prices, and what nights left in the store. Ages count up to a moment of the clock that
the caller gives. All else is the same for the same build in the same store. The pages of a night are the report of its
build and the diff to the live build, which link to each other.
"""

import itertools
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from edge_auth.builds import layout
from edge_auth.builds.builds import Build, BuildRecord, open_build
from edge_auth.errors import DamagedObject, UnknownBuild
from edge_auth.store.interface import Store
from generator.clock import Clock
from generator.compare.comparison import Comparison, compare, named_faults, prices_database
from generator.compare.diff import Diff
from generator.compare.judgements import read_judgement
from generator.compare.run_reports import DIFF_PAGE, REPORT_PAGE, UNCHANGED, Figures, RunReport, read_reports
from generator.lake.files import GUIDE_PRICES
from generator.lake.quarantine import QuarantinedFile, describe_waiting, held_games
from generator.making.game_coverage import coverage
from generator.reading.diff.report import as_html as diff_as_html
from generator.reading.diff.report import make_report
from generator.reading.overview import LastNight, SourceAge, last_failed_night, source_ages
from generator.reading.plot import Bar, Plot, plot
from generator.reading.render import render
from generator.terminal import Progress
from generator.threads import Resources

DIFF_ROWS = 50  # of each list of the diff
MAX_HISTORY_BUILDS = 30
# How many run reports are searched for the builds of the history.
MAX_RUN_REPORTS = 100
# A row of a view of `build/report/`.
Row = dict[str, Any]

_VIEWS = ("coverage", "distribution", "ages", "game_columns")
_PRICE_TITLES = {"trend": "Trend", "low": "Low", "filtered": "Lowest under the seller filter"}
_SOURCE_TITLES = {
    "price_guide": "Price guide",
    "listings": "List pages",
    "filtered_checks": "Filtered checks",
    "watch_checks": "Watch checks",
}
_FRESH_DAYS = 2  # bars of older rows have the warning color
_MAX_DAY_LABELS = 7
# The report of a night or the gate results of a build, as JSON.
_Stored = dict[str, Any]


@dataclass(frozen=True)
class PriceCounts:
    """The rows of the views of `build/report/`."""

    coverage: list[Row]
    distribution: list[Row]
    ages: list[Row]
    games: list[Row]


@dataclass(frozen=True)
class LayerSummary:
    """A layer of the build. `seconds`: how long it took to build; None if no night recorded it."""

    name: str
    digest: str
    objects: int
    bytes: int
    seconds: float | None


@dataclass(frozen=True)
class HistoryRow:
    """A build of the history. `run`, `outcome` and `seconds` are of the last night that made it; None if unknown."""

    build: str
    as_of: str
    products: int
    sets: int
    objects: int
    bytes: int
    run: str | None = None
    outcome: str | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class BuildSummary:
    """The content of the report of a build.

    Attributes:
        moment: The time that the ages of the sources count up to.
        sources: How old the newest row of each source is.
        night: The report of the last night that made the build, or None.
        judgement: The gate results of the last night that judged the build, or None.
        layers: The slowest first, those without a time last.
        failed_since: The newest night of the store, if it did not publish and made another build.
        history: Builds up to the as-of day, oldest first, this build among them.
    """

    build: str
    as_of: str
    record: BuildRecord
    counts: PriceCounts
    moment: datetime
    sources: list[SourceAge]
    night: _Stored | None
    judgement: _Stored | None
    layers: list[LayerSummary] = field(default_factory=list)
    history: list[HistoryRow] = field(default_factory=list)
    failed_since: LastNight | None = None
    held: str = ""


def write_pages(
    store: Store,
    report: RunReport,
    clock: Clock,
    *,
    comparison: Comparison | None = None,
    resources: Resources,
    progress: Progress,
) -> str:
    """Write the pages of a run and return their folder in the store.

    Args:
        comparison: That of the run's gates, perhaps of other builds.

    Raises:
        BuildError, StoreError: A build cannot be read, or a page cannot be written.
    """
    new = open_build(store, report.build or "")
    if report.live_before:
        with ExitStack() as stack:
            if comparison is None or not comparison.is_of(report.live_before, new.id):
                old = open_build(store, report.live_before)
                comparison = stack.enter_context(compare(old, new, resources))
            judged = report.judgement if report.judgement and report.judgement.against == report.live_before else None
            figures = judged.differences if judged else None
            page = diff_page(comparison, DIFF_ROWS, REPORT_PAGE, progress=progress, figures=figures)
        store.put(layout.page_name(report.run, DIFF_PAGE), page)
    summary = summarize_build(store, new, clock, resources)
    page = _encode(as_html(summary, DIFF_PAGE if report.live_before else None))
    store.put(layout.page_name(report.run, REPORT_PAGE), page)
    return layout.page_name(report.run, "")


def diff_page(
    comparison: Comparison, top: int, build_report: str, *, progress: Progress, figures: Figures | None = None
) -> bytes:
    """Return the page of the differences between two builds, with a link to the report beside it."""
    with named_faults(comparison):
        return _encode(diff_as_html(make_report(Diff(comparison, progress), top, figures), build_report))


def summarize_build(store: Store, build: Build, clock: Clock, resources: Resources) -> BuildSummary:
    """Collect what the report of a build shows.

    Raises:
        BuildError, StoreError: The build cannot be read.
    """
    nights, records = _nights(store, build), _records(store, build)
    night = next((report for report in nights if report["build"] == build.id), None)
    moment = clock()
    return BuildSummary(
        build.id,
        build.as_of.isoformat(),
        build.record,
        count_prices(build, resources),
        moment,
        source_ages(build.record, lambda: moment),
        night,
        read_judgement(store, build.id),
        _layer_summaries(build, nights, records),
        _history(nights, records),
        failed if (failed := last_failed_night(store)) and failed.build != build.id else None,
        held_games(store, build.record),
    )


def count_prices(build: Build, resources: Resources) -> PriceCounts:
    """Count the prices of a build.

    Args:
        resources: What DuckDB may use.

    Raises:
        BuildError: DuckDB cannot read the prices.
        StoreError: The prices cannot be fetched.
    """
    with prices_database(build, resources) as db:
        db.run(*(f"report/{view}" for view in _VIEWS))
        return PriceCounts(*(db.table(f"from {view}").to_pylist() for view in _VIEWS))


def as_html(summary: BuildSummary, diff_url: str | None = None) -> Iterator[str]:
    """Yield the page in pieces.

    Args:
        diff_url: Relative URL of the page that shows what the build changed, to link to.
    """
    sources = dict.fromkeys(row["source"] for row in summary.counts.ages)
    yield from render(
        "report",
        {"source_title": _source_title, "age": format_age},
        summary=summary,
        moment=f"{summary.moment:%Y-%m-%d %H:%M} UTC",
        tiles=_tiles(summary),
        prices=_PRICE_TITLES,
        distributions={price: _distribution_plots(summary, price) for price in _PRICE_TITLES},
        ages={source: _ages_plot(summary, source) for source in sources},
        products=_products_plot(summary.history),
        seconds=_seconds_plot(summary.history),
        gates=_gates(summary),
        games=list(coverage(summary.counts.games)),
        guide_columns=GUIDE_PRICES,
        diff_page=diff_url,
        held=summary.held,
        quarantine=_quarantine(summary),
    )


def format_age(hours: float) -> str:
    """Format an age, in hours up to three days and in days beyond."""
    return f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} d"


def _encode(pieces: Iterable[str]) -> bytes:
    return "".join(pieces).encode()


def _nights(store: Store, build: Build) -> list[_Stored]:
    """Return the reports of nights that made a build up to this one's as-of day, newest first."""
    newest = itertools.islice(read_reports(store), MAX_RUN_REPORTS)
    with_build = (report for report in newest if report.get("build") and report.get("record"))
    return [report for report in with_build if report["record"]["as_of"] <= build.as_of.isoformat()]


def _records(store: Store, build: Build) -> dict[str, BuildRecord]:
    """Return the records of the newest builds up to this one's as-of day, by id."""
    ids = layout.build_ids(store.list(layout.BUILDS))
    records = {}
    for id_ in sorted(id_ for id_ in ids if layout.day_of(id_) <= build.as_of.isoformat())[-MAX_HISTORY_BUILDS:]:
        with suppress(UnknownBuild, DamagedObject):  # pruned meanwhile, or damaged, which the doctor says
            records[id_] = open_build(store, id_).record
    return records


def _layer_summaries(build: Build, nights: list[_Stored], records: dict[str, BuildRecord]) -> list[LayerSummary]:
    record = build.record
    layers = [
        LayerSummary(
            name, layer["digest"], record["objects"][name], record["bytes"][name],
            _layer_seconds(name, layer["digest"], nights, records | {build.id: record}),
        )
        for name, layer in record["layers"].items()
    ]  # fmt: skip
    return sorted(layers, key=lambda layer: (layer.seconds is None, -(layer.seconds or 0), layer.name))


def _layer_seconds(name: str, digest: str, nights: list[_Stored], records: dict[str, BuildRecord]) -> float | None:
    """Return how long the night that built a layer took over it, for this build or for one that shares the layer."""
    for night in nights:
        seconds: float | None = night.get("layer_seconds", {}).get(name)
        record = records.get(night["build"])
        layer = record["layers"].get(name) if record else None
        if seconds is not None and layer and layer["digest"] == digest:
            return seconds
    return None


def _history(nights: list[_Stored], records: dict[str, BuildRecord]) -> list[HistoryRow]:
    rows = {id_: _history_row(id_, record) for id_, record in records.items()}
    for night in reversed(nights):  # the last night that made a build replaces the earlier ones
        if night["outcome"] != UNCHANGED or night["build"] not in rows:
            rows[night["build"]] = _history_row(night["build"], night["record"], night)
    return sorted(rows.values(), key=lambda row: (row.as_of, row.run or "", row.build))[-MAX_HISTORY_BUILDS:]


def _history_row(id_: str, record: BuildRecord, night: _Stored | None = None) -> HistoryRow:
    catalogue = record["freshness"]["catalogue"]
    return HistoryRow(
        id_,
        record["as_of"],
        catalogue["products"],
        catalogue["sets"],
        sum(record["objects"].values()),
        sum(record["bytes"].values()),
        run=night["run"] if night else None,
        outcome=night["outcome"] if night else None,
        seconds=sum(night["seconds"].values()) if night else None,
    )


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


def _distribution_plots(summary: BuildSummary, price: str) -> list[Plot]:
    rows = [row for row in summary.counts.distribution if row["price"] == price]
    kinds = dict.fromkeys(row["kind"] for row in rows)
    return [_distribution_plot(price, kind, [row for row in rows if row["kind"] == kind]) for kind in kinds]


def _distribution_plot(price: str, kind: str, rows: list[Row]) -> Plot:
    products = sum(row["products"] for row in rows)
    bars = [Bar(row["products"], f"{_band(row)}: {row['products']:,}", edge_label=f"{row['low']:g}") for row in rows]
    label = f"{products:,} prices {price} ({kind}), by euros"
    return plot(label, bars, x_axis="euros", y_axis="products", view=kind, placeholder="No product has this price.")


def _band(row: Row) -> str:
    return f"{row['low']:g} euros and above" if row["high"] is None else f"{row['low']:g} to {row['high']:g} euros"


def _ages_plot(summary: BuildSummary, source: str) -> Plot:
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


def _products_plot(history: list[HistoryRow]) -> Plot:
    bars = [
        Bar(row.products, f"{row.build}: {row.products:,} products", label=_day_label(place, len(history), row.as_of))
        for place, row in enumerate(history)
    ]
    return plot("Products of each build of the history", bars, y_axis="products", placeholder="No build has products.")


def _seconds_plot(history: list[HistoryRow]) -> Plot:
    nights = [(row, row.seconds) for row in history if row.seconds is not None]
    bars = [
        Bar(round(seconds), f"{row.run}: {seconds:,.1f} s", label=_day_label(place, len(nights), row.as_of))
        for place, (row, seconds) in enumerate(nights)
    ]
    return plot("Seconds of each night", bars, y_axis="seconds", placeholder="No night took a second or more.")


def _day_label(place: int, bars: int, day: str) -> str:
    """Return month and day for some of the bars, so that the labels do not touch."""
    return day[5:] if (bars - 1 - place) % max(1, -(-bars // _MAX_DAY_LABELS)) == 0 else ""
