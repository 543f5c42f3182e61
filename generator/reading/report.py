"""The report of a build as an HTML page, alone or with the pages of a night.

Ages count up to a moment of the clock that the caller gives. All else is the same for the same build in the same store.
"""

import itertools
from collections.abc import Iterator, Mapping
from datetime import datetime

from generator.clock import Clock
from generator.compare import run_reports
from generator.compare.comparison import Comparison, compare, prices_database
from generator.compare.diff import Diff
from generator.lake.quarantine import QuarantinedFile, describe_waiting, held_games
from generator.reading import overview, page
from generator.reading.diff_pages import PRICES, as_html
from generator.storage.builds import Build, BuildRecord
from generator.terminal import Progress
from generator.threads import Resources

_DIFF_ROWS = 50  # of each list of the diff
_MAX_RUN_REPORTS = 100  # that are searched for the night that made a build
_VIEWS = ("coverage", "distribution", "ages")
_SECONDS: page.Column = ("Seconds", lambda row: page.number(row["seconds"], ".1f"))


def pages_of(
    new: Build,
    old: Build | None,
    clock: Clock,
    resources: Resources,
    progress: Progress,
    *,
    name: str = run_reports.REPORT_PAGE,
    made: Comparison | None = None,
) -> dict[str, bytes]:
    """Return the report of a build as a page of this name, and before it what it changed in an old one, with links.

    The comparison that was `made` may be of other builds.
    """
    pages = {}
    if old:
        with compare(old, new, resources, made) as comparison:
            found = Diff(comparison, progress)
            pages[run_reports.DIFF_PAGE] = as_html(found, _DIFF_ROWS, name).encode()
    with prices_database(new, resources) as db:
        db.run(*(f"report/{view}" for view in _VIEWS))
        prices: dict[str, list[page.Record]] = {view: db.table(f"from {view}").to_pylist() for view in _VIEWS}
    newest = itertools.islice(run_reports.read_reports(new.store), _MAX_RUN_REPORTS)
    night = next((report for report in newest if report.get("build") == new.id), None)  # that made the build
    judgement = run_reports.read_judgement(new.store, new.id)
    text = page.render(
        "report",
        build=new,
        night=night,
        changes=run_reports.DIFF_PAGE if old else None,
        warnings=list(_warnings(new, night, judgement)),
        groups=list(_groups(new.record, clock(), prices, judgement, night)),
    )
    return pages | {name: text.encode()}


def _warnings(build: Build, night: page.Record | None, judgement: page.Record) -> Iterator[tuple[str, list[str]]]:
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


def _groups(
    record: BuildRecord,
    moment: datetime,
    prices: Mapping[str, list[page.Record]],
    judgement: page.Record,
    night: page.Record | None,
) -> Iterator[page.PageGroup]:
    sources = overview.sources_table(overview.source_ages(record, moment))
    fresh = [sources, _ages_table(prices["ages"]), overview.left_out_table(record)]
    yield page.PageGroup(f"Freshness at {moment:%Y-%m-%d %H:%M} UTC", overview.some(fresh))
    of_games = [_coverage_table(prices["coverage"]), overview.games_table(record["games"])]
    of_games += [_indexes_table(judgement)] if judgement else []
    yield page.PageGroup("Products and coverage of prices", overview.some(of_games))
    yield page.PageGroup("Prices", [_distribution_table(prices["distribution"])])
    gates = [overview.gates_table(judgement)] if judgement else []
    timed = [{"step": step, "seconds": seconds} for step, seconds in (night["seconds"] if night else {}).items()]
    steps = page.table("Steps of the night", [("Step", lambda row: page.what(row["step"])), _SECONDS], timed)
    layers = overview.layers_table(record, night["layer_seconds"] if night else {})
    yield page.PageGroup("Gates and time", overview.some([*gates, steps, layers]))


def _ages_table(rows: list[page.Record]) -> page.Table:
    def days(row: page.Record) -> page.Cell:
        least, below = row["at_least"], row["below"]
        if least < 0:
            return page.what("no row")
        if below is None:
            return page.what(f"{least} and more")
        return page.what(f"{least} to {below - 1}" if below - 1 > least else str(least))

    columns = [("Days", days), *(page.bars(title, name, rows) for name, title in overview.PRODUCT_SOURCES.items())]
    note = "Products by the days from their newest row to the as-of day."
    return page.table("Ages of rows", columns, rows, note)


def _distribution_table(rows: list[page.Record]) -> page.Table:
    def band(row: page.Record) -> page.Cell:
        return page.what(f"{row['at_least']:g} " + ("and above" if row["below"] is None else f"to {row['below']:g}"))

    columns = [("Euros", band), *(page.bars(title, name, rows) for name, title in PRICES.items())]
    return page.table("Distribution of prices", columns, rows, "Products by price; the lower bound belongs to a row.")


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
