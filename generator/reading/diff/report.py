"""The report of a comparison: its summary, which text and HTML show, and the HTML page.

The summary has all counts, and the first rows of each list. The size of a report is bounded by the number of rows per
list, not by the size of the builds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from edge_auth.builds.builds import Build
from generator.compare.diff import PERCENT_FLOOR_EUROS, Diff, LayerCounts, ObjectCounts
from generator.compare.figures import NightComparison, compare_night, count_differences, strange_by_gates, title
from generator.compare.run_reports import Figures
from generator.lake.quarantine import held_games
from generator.reading.plot import Bar, Plot, plot
from generator.reading.render import render, set_name

PRICES = ("trend", "low", "filtered")
# A row of a view of `build/diff/`.
Row = dict[str, Any]

_WAYS = ("up", "down")
_MEASURES = ("euros", "percent")
_RANKINGS = {"euros": "ranked_moves", "percent": "percent_moves"}
# A row of the view `distribution`.
_Band = dict[str, Any]
# What nearly every night changes: the members of a Card with prices, and the watchlist.
_DAILY = re.compile(r"products (price_guide|listing|filtered_price)\b|watchlist ")


@dataclass(frozen=True)
class RowList:
    """The first rows of a list, and the number of rows in the whole list."""

    total: int
    rows: list[Row]


@dataclass(frozen=True)
class PriceMoves:
    """The largest moves of one price, and its values that appeared or went.

    Attributes:
        largest: By (way, measure), such as ("up", "percent"). `total` counts the moves that have this measure.
        nulls: By "appeared" and "went", the highest price first.
    """

    price: str
    largest: dict[tuple[str, str], RowList]
    nulls: dict[str, RowList]

    def has_rows(self) -> bool:
        """Return whether there is any row to show."""
        return any(list_.rows for list_ in (*self.largest.values(), *self.nulls.values()))

    def rows(self) -> list[Row]:
        """Return each of the largest moves once, the largest in euros first."""
        by_id = {row["id"]: row for list_ in self.largest.values() for row in list_.rows}
        return sorted(by_id.values(), key=lambda row: (-abs(row["change"]), row["id"]))


@dataclass(frozen=True)
class DiffReport:
    """The summary of the differences between two builds. Each list holds up to `top` rows.

    Attributes:
        old, new: `id` and `as_of` of the builds.
        night: The figures beside those of earlier nights.
        items, fields, prices, bands, identifiers: Rows of the views item_counts, field_counts, price_counts,
            distribution, identifiers.
    """

    old: dict[str, str]
    new: dict[str, str]
    top: int
    layers: list[LayerCounts]
    resources: list[ObjectCounts]
    items: list[Row]
    fields: list[Row]
    prices: list[Row]
    bands: list[Row]
    identifiers: list[Row]
    night: NightComparison
    added: RowList
    removed: RowList
    renamed: RowList
    moved: RowList
    rarities: RowList
    moves: list[PriceMoves]
    sets: RowList
    watchlist: RowList
    fingerprints: RowList
    index_fields: list[Row]

    @property
    def same(self) -> bool:
        """Whether the builds have the same objects, and so the same values."""
        return all(count.added == count.removed == count.changed == 0 for count in (*self.layers, *self.resources))

    @property
    def has_other_changes(self) -> bool:
        """Whether there is any row to show beside those of prices."""
        lists = (
            self.added,
            self.removed,
            self.renamed,
            self.moved,
            self.rarities,
            self.sets,
            self.watchlist,
            self.fingerprints,
        )
        return bool(self.index_fields) or any(list_.rows for list_ in lists)


def make_report(diff: Diff, top: int, figures: Figures | None = None) -> DiffReport:
    """Return the counts of a diff and the first `top` rows of each list.

    Args:
        figures: The figures of the night, if its gates have counted them.
    """
    views = _Views(diff, top)
    return DiffReport(
        old=_id_and_day(diff.old),
        new=_id_and_day(diff.new),
        top=top,
        layers=diff.layers(),
        resources=diff.resources(),
        items=views.all("item_counts"),
        fields=views.all("field_counts"),
        prices=views.all("price_counts"),
        bands=views.all("distribution"),
        identifiers=views.all("identifiers"),
        night=_night_comparison(diff, figures),
        added=views.first("products where event = 'added'", "id"),
        removed=views.first("products where event = 'removed'", "id"),
        renamed=views.first("renamed_products", "id"),
        moved=views.first("moved_products", "id"),
        rarities=views.first("rarity_changes", "id"),
        moves=[_price_moves(views, price) for price in PRICES],
        sets=views.first("set_changes", "id"),
        watchlist=views.first("watchlist_changes", "abs(change_pct) desc nulls last, slug"),
        fingerprints=views.first("items where resource = 'fingerprints'", "key", "key, change as event"),
        index_fields=views.all("field_changes where resource = 'fingerprint index' order by place"),
    )


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
        large=sorted((row for row in report.fields if row not in daily), key=_differing_items, reverse=True),
        daily=daily,
        sets=_set_names(report),
        plots=price_plots(report.bands),
        build_report=build_report,
        floor=PERCENT_FLOOR_EUROS,
    )


def price_plots(bands: list[_Band]) -> dict[str, list[Plot]]:
    """Return the plots of each price, one per kind of product, in the order of the view `distribution`."""
    groups: dict[tuple[str, str], list[_Band]] = {}
    for band in bands:
        groups.setdefault((band["price"], band["kind"]), []).append(band)
    plots: dict[str, list[Plot]] = {}
    for (price, kind), group in groups.items():
        plots.setdefault(price, []).append(_moves_plot(price, kind, group))
    return plots


class _Views:
    """Reads rows of the views of a diff."""

    def __init__(self, diff: Diff, top: int):
        self.db, self.top = diff.db, top

    def all(self, query: str) -> list[Row]:
        rows: list[Row] = self.db.table(f"from {query}").to_pylist()
        return rows

    def first(self, query: str, order: str, columns: str = "*") -> RowList:
        [(total,)] = self.db.rows(f"select count(*) from {query}")
        rows = self.db.table(f"select {columns} from {query} order by {order} limit {self.top}").to_pylist()
        return RowList(total, rows)


def _id_and_day(build: Build) -> dict[str, str]:
    return {"id": build.id, "as_of": build.as_of.isoformat()}


def _night_comparison(diff: Diff, figures: Figures | None) -> NightComparison:
    """Compare the figures of a night, and what its gates said, with the nights before."""
    old, new = diff.old, diff.new
    counted = count_differences(diff.comparison) if figures is None else figures
    held = held_games(new.store, new.record)
    strange = [*([held] if held else []), *strange_by_gates(new.store, new.id, old.id)]
    return compare_night(new.store, new.as_of, counted, strange)


def _price_moves(views: "_Views", price: str) -> PriceMoves:
    largest = {
        (way, measure): views.first(
            f"{_RANKINGS[measure]} where price = '{price}' and way = '{way}'", f"place_{measure}"
        )
        for way in _WAYS
        for measure in _MEASURES
    }
    nulls = {
        way: views.first(f"ranked_nulls where price = '{price}' and way = '{way}'", "place")
        for way in ("appeared", "went")
    }
    return PriceMoves(price, largest, nulls)


def _build_names(report: DiffReport) -> list[str]:
    """Return what tells the older build from the newer one: their days, or the ids of two builds of one day."""
    name = "id" if report.old["as_of"] == report.new["as_of"] else "as_of"
    return [report.old[name], report.new[name]]


def _differing_items(field: Row) -> int:
    """Return in how many items a field differs."""
    count: int = field["changed"] + field["appeared"] + field["went"]
    return count


def _set_names(report: DiffReport) -> list[str]:
    """Return the names of the sets that the page's products belong to, for its filter."""
    lists = [report.added, report.removed, report.renamed, report.moved, report.rarities]
    for moves in report.moves:
        lists += [*moves.largest.values(), *moves.nulls.values()]
    return sorted({set_name(row) for list_ in lists for row in list_.rows})


def _moves_plot(price: str, kind: str, bands: list[_Band]) -> Plot:
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
