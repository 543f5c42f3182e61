"""The report of a build as an HTML page, alone or with the pages of a night.

Ages count up to a moment of the clock that the caller gives. All else is the same for the same build in the same store.
"""

import itertools
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from generator.clock import Clock
from generator.compare import run_reports
from generator.compare.comparison import Comparison, compare, prices_database
from generator.compare.diff import Diff
from generator.lake.quarantine import QuarantinedFile, describe_waiting, held_games
from generator.reading import overview, page
from generator.reading.diff_pages import PRICES, as_html
from generator.storage import layout
from generator.storage.builds import Build, BuildRecord, open_build
from generator.storage.errors import DamagedObject, UnknownBuild
from generator.storage.stores.interface import Store
from generator.terminal import Progress
from generator.threads import Resources

_DIFF_ROWS = 50  # of each list of the diff
_MAX_HISTORY_BUILDS = 30
_MAX_RUN_REPORTS = 100  # that are searched for the builds of the history
_VIEWS = ("coverage", "distribution", "ages")
_FRESH_DAYS = 2  # bars of older rows have the warning color
_MAX_DAY_LABELS = 7
_SECONDS: page.Column = ("Seconds", lambda row: page.number(row["seconds"], ".1f"))


def write_pages(
    store: Store,
    report: run_reports.RunReport,
    clock: Clock,
    *,
    comparison: Comparison | None = None,
    resources: Resources,
    progress: Progress,
) -> str:
    """Write the pages of a run and return their folder in the store; the `comparison` may be of other builds."""
    new = open_build(store, report.build or "")
    if report.live_before:
        with compare(open_build(store, report.live_before), new, resources, comparison) as made:
            found = diff_page(made, run_reports.REPORT_PAGE, progress)
        store.put(layout.page_name(report.run, run_reports.DIFF_PAGE), found)
    built = build_page(new, clock, resources, run_reports.DIFF_PAGE if report.live_before else None)
    store.put(layout.page_name(report.run, run_reports.REPORT_PAGE), built)
    return layout.page_name(report.run, "")


def diff_page(comparison: Comparison, build_report: str, progress: Progress) -> bytes:
    """Return the page of the differences between two builds, with a link to the report beside it."""
    return as_html(Diff(comparison, progress), _DIFF_ROWS, build_report).encode()


def build_page(build: Build, clock: Clock, resources: Resources, changes: str | None = None) -> bytes:
    """Return the report of a build as a page, with a link to the page of what it changed."""
    with prices_database(build, resources) as db:
        db.run(*(f"report/{view}" for view in _VIEWS))
        prices: dict[str, list[page.Record]] = {view: db.table(f"from {view}").to_pylist() for view in _VIEWS}
    nights, judgement = _nights(build), run_reports.read_judgement(build.store, build.id)
    night = next((report for report in nights if report["build"] == build.id), None)
    text = page.render(
        "report",
        build=build,
        night=night,
        changes=changes,
        warnings=list(_warnings(build, night, judgement)),
        tiles=_tiles(build.record, judgement),
        groups=list(_groups(build, clock(), prices, judgement, night, nights)),
    )
    return text.encode()


def _nights(build: Build) -> list[page.Record]:
    """Return the reports of nights that made a build up to this one's as-of day, newest first."""
    newest = itertools.islice(run_reports.read_reports(build.store), _MAX_RUN_REPORTS)
    with_build = (report for report in newest if report.get("build") and report.get("record"))
    return [report for report in with_build if report["record"]["as_of"] <= build.as_of.isoformat()]


def _records(build: Build) -> dict[str, BuildRecord]:
    """Return the records of the newest builds up to this one's as-of day, by id."""
    ids = map(layout.id_of, build.store.list(layout.BUILDS))
    records = {}
    for id_ in sorted(id_ for id_ in ids if layout.day_of(id_) <= build.as_of.isoformat())[-_MAX_HISTORY_BUILDS:]:
        with suppress(UnknownBuild, DamagedObject):  # pruned meanwhile, or damaged, which the doctor says
            records[id_] = open_build(build.store, id_).record
    return records


def _warnings(
    build: Build, night: page.Record | None, judgement: page.Record | None
) -> Iterator[tuple[str, list[str]]]:
    store = build.store
    if held := held_games(store, build.record):
        yield held, []
    newest = run_reports.newest_report(store)
    if newest and newest.get("build") != build.id and (failed := overview.why_not_published(store, newest)):
        yield f"The last night was {newest['outcome']}", [*failed[1:], "This page is about what clients see."]
    if night and night["error"]:
        yield "Why the night failed", [str(night["error"]).partition("; in quarantine")[0]]
    if night and (files := [QuarantinedFile(**file) for file in night.get("quarantine", [])]):
        yield "In quarantine", [describe_waiting(files, night["store"])]
    if judgement and judgement["remarks"]:
        yield "What is strange", [remark["message"] for remark in judgement["remarks"]]


def _tiles(record: BuildRecord, judgement: page.Record | None) -> dict[str, str]:
    fresh = record["freshness"]
    counted = {name: fresh["catalogue"][name] for name in ("products", "singles", "sealed", "sets")}
    counted |= {"tracked": fresh["watchlist"]["products"], "objects": sum(record["objects"].values())}
    tiles = {name: f"{count:,}" for name, count in counted.items()}
    return tiles | {
        "megabytes": f"{sum(record['bytes'].values()) / 1e6:,.1f}",
        "gates": overview.gates_in_short(judgement),
    }


def _groups(
    build: Build,
    moment: datetime,
    prices: Mapping[str, list[page.Record]],
    judgement: page.Record | None,
    night: page.Record | None,
    nights: list[page.Record],
) -> Iterator[page.PageGroup]:
    record, records = build.record, _records(build)
    sources = overview.sources_table(overview.source_ages(record, moment))
    ages = [_ages_figure(source, prices["ages"]) for source in dict.fromkeys(row["source"] for row in prices["ages"])]
    yield page.PageGroup(
        f"Freshness at {moment:%Y-%m-%d %H:%M} UTC", overview.some([sources, overview.left_out_table(record)]), ages
    )
    of_games = [_coverage_table(prices["coverage"]), overview.games_table(record["games"])]
    of_games += [_indexes_table(judgement)] if judgement else []
    yield page.PageGroup("Products and coverage of prices", overview.some(of_games))
    yield page.PageGroup("Prices", figures=[_prices_figure(price, prices["distribution"]) for price in PRICES])
    gates = [overview.gates_table(judgement)] if judgement else []
    timed = [{"step": step, "seconds": seconds} for step, seconds in (night["seconds"] if night else {}).items()]
    steps = page.table("Steps of the night", [("Step", lambda row: page.what(row["step"])), _SECONDS], timed)
    seconds = _layer_seconds(record, nights, records | {build.id: record})
    yield page.PageGroup("Gates and time", overview.some([*gates, steps, overview.layers_table(record, seconds)]))
    history = _history(nights, records)
    yield page.PageGroup("History", [_history_table(history)], _history_figures(history))


def _coverage_table(rows: list[page.Record]) -> page.Table:
    def covered(head: str, name: str) -> page.Column:
        return head, lambda row: page.part(row[name], row["products"])

    columns: list[page.Column] = [
        ("Game", lambda row: page.what("all games" if row["all_games"] else row["game"] or overview.NO_GAME)),
        ("Kind", lambda row: page.Cell(row["kind"])),
        *page.counts("products"),
        *(covered(name.capitalize(), name) for name in ("trend", "low", "avg", "checked", "filtered")),
        covered("List page", "from_price"),
    ]
    note = (
        "The share of the products of a game and kind that have each price. Checked: products with a check under the "
        "seller filter, with or without offers."
    )
    return page.table("Coverage of prices", columns, rows, note, "wide")


def _indexes_table(judgement: page.Record) -> page.Table:
    def change(row: page.Record) -> page.Record:
        before = row["index_before"]
        return {**row, "change": 100 * row["index"] / before - 100 if before else None}

    columns: list[page.Column] = [
        ("Game", lambda row: page.what(row["game"])),
        ("Day", lambda row: page.Cell(str(row["day"]))),
        ("Singles with a price", lambda row: page.number(row["priced"])),
        ("Index", lambda row: page.number(row["index"], ".2f")),
        ("Day before", lambda row: page.Cell(str(row["day_before"] or "none"))),
        ("Index then", lambda row: page.number(row["index_before"], ".2f")),
        page.signed("Change in percent", "change"),
    ]
    against = judgement["against"] or "no live build"
    note = f"The prices of the singles, 100 on the first day: now, and on the newest day of {against}."
    return page.table("The index of each game", columns, map(change, judgement["indexes"]), note, "wide")


def _layer_seconds(record: BuildRecord, nights: list[page.Record], records: dict[str, BuildRecord]) -> dict[str, float]:
    """Return how long the night that built each layer took over it, for this build or for one that shares the layer."""
    found: dict[str, float] = {}
    for night in nights:
        layers = records[night["build"]]["layers"] if night["build"] in records else {}
        for name, seconds in night.get("layer_seconds", {}).items():
            mine, theirs = record["layers"].get(name), layers.get(name)
            if mine and theirs and mine["digest"] == theirs["digest"]:
                found.setdefault(name, seconds)
    return found


def _history(nights: list[page.Record], records: dict[str, BuildRecord]) -> list[page.Record]:
    """Return the builds up to the as-of day, the oldest first, each with the last night that made it."""
    made: dict[str, tuple[Mapping[str, Any], page.Record]] = {id_: (record, {}) for id_, record in records.items()}
    for night in reversed(nights):
        if night["outcome"] != run_reports.UNCHANGED or night["build"] not in made:
            made[night["build"]] = night["record"], night
    rows: list[page.Record] = [
        {
            "build": id_,
            "as_of": record["as_of"],
            "products": record["freshness"]["catalogue"]["products"],
            "sets": record["freshness"]["catalogue"]["sets"],
            "objects": sum(record["objects"].values()),
            "bytes": sum(record["bytes"].values()) / 1e6,
            "run": night.get("run", ""),
            "outcome": night.get("outcome", "–"),
            "seconds": sum(night["seconds"].values()) if night else None,
        }
        for id_, (record, night) in made.items()
    ]
    return sorted(rows, key=lambda row: (row["as_of"], row["run"], row["build"]))[-_MAX_HISTORY_BUILDS:]


def _history_table(history: list[page.Record]) -> page.Table:
    columns: list[page.Column] = [
        ("Build", lambda row: page.Cell(row["build"])),
        *page.counts("products", "sets", "objects"),
        ("MB", lambda row: page.number(row["bytes"], ".1f")),
        ("Night", lambda row: page.Cell(row["outcome"])),
        _SECONDS,
    ]
    return page.table("Builds", columns, history[::-1], "The newest first.", "wide")


def _prices_figure(price: str, distribution: list[page.Record]) -> page.Chart:
    bands = [row for row in distribution if row["price"] == price]
    label = f"{{many:,}} prices {price} ({{kind}}), by euros"
    shown = page.Plot(label, [], "No product has this price.", "euros", "products")
    return page.Chart(PRICES[price], page.plots_by_kind(shown, bands, _price_bar))


def _price_bar(row: page.Record) -> page.Bar:
    band = f"{row['low']:g} euros and above" if row["high"] is None else f"{row['low']:g} to {row['high']:g} euros"
    return page.Bar(row["products"], f"{band}: {row['products']:,}", edge_label=f"{row['low']:g}")


def _ages_figure(source: str, rows: list[page.Record]) -> page.Chart:
    bars = [_age_bar(row) for row in rows if row["source"] == source]
    label = f"Products by the days between the newest row of {source} and the as-of day"
    shown = page.Plot(label, bars, "There are no products.", "days before the as-of day", "products")
    return page.Chart(
        f"{overview.SOURCE_TITLES[source]}: products by the days from their newest row to the as-of day", [shown]
    )


def _age_bar(row: page.Record) -> page.Bar:
    low, high = row["low"], row["high"]
    if low is None:
        return page.Bar(row["products"], f"no row: {row['products']:,}", label="none", color="down")
    days = f"{low}+" if high is None else f"{low}" if high == low + 1 else f"{low}–{high - 1}"
    color = "down" if low > _FRESH_DAYS else "up"
    return page.Bar(row["products"], f"{days} days: {row['products']:,}", label=days, color=color)


def _history_figures(history: list[page.Record]) -> list[page.Chart]:
    products = _bars(history, "products", "{build}: {products:,} products")
    nights = [row for row in history if row["seconds"] is not None]
    seconds = _bars(nights, "seconds", "{run}: {seconds:,.1f} s")
    of_builds = page.Plot(
        "Products of each build of the history", products, "No build has products.", y_axis="products"
    )
    of_nights = page.Plot("Seconds of each night", seconds, "No night took a second or more.", y_axis="seconds")
    return [page.Chart("Products, build by build", [of_builds]), page.Chart("Seconds, night by night", [of_nights])]


def _bars(rows: list[page.Record], name: str, title: str) -> list[page.Bar]:
    """Return a bar for each row, with month and day below some of them, so that the labels do not touch."""
    every = max(1, -(-len(rows) // _MAX_DAY_LABELS))
    return [
        page.Bar(round(row[name]), title.format(**row), label="" if place % every else row["as_of"][5:])
        for place, row in enumerate(rows, 1 - len(rows))
    ]
