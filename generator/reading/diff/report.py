"""The part of a comparison that is told to people: all counts, and the first rows of each list.

Bounded: a report of two builds of millions of products is no larger than one of thousands.
"""

from dataclasses import dataclass

from generator.reading.diff.compare import Comparison, Count, LayerCount

PRICES = ("trend", "low", "filtered")
WAYS = ("up", "down")
MEASURES = ("euros", "percent")


@dataclass(frozen=True)
class Listing:
    """The first rows of a list, each a dict, and how many there are in all."""

    total: int
    rows: list[dict]


@dataclass(frozen=True)
class Moves:
    """The largest moves of one price, and its values that appeared or went.

    Attributes:
        largest: by (way, measure), such as ("up", "percent"); `total` counts the moves that have that measure.
        nulls: by "appeared" and "went", the dearest first.
    """

    price: str
    largest: dict[tuple[str, str], Listing]
    nulls: dict[str, Listing]

    def told(self) -> bool:
        """Whether there is any row to show."""
        return any(listing.rows for listing in (*self.largest.values(), *self.nulls.values()))

    def rows(self) -> list[dict]:
        """Each move of any of the lists once, the largest in euros first."""
        found = {row["id"]: row for listing in self.largest.values() for row in listing.rows}
        return sorted(found.values(), key=lambda row: (-abs(row["change"]), row["id"]))


@dataclass(frozen=True)
class DiffReport:
    """What differs between two builds, told briefly; lists hold up to `top` rows.

    Attributes:
        items, fields, prices, bands: rows of the views item_counts, field_counts, price_counts, distribution.
    """

    old: dict
    new: dict
    top: int
    layers: list[LayerCount]
    resources: list[Count]
    items: list[dict]
    fields: list[dict]
    prices: list[dict]
    bands: list[dict]
    added: Listing
    removed: Listing
    renamed: Listing
    moved: Listing
    moves: list[Moves]
    sets: Listing
    watchlist: Listing
    fingerprints: Listing
    index_fields: list[dict]

    @property
    def same(self) -> bool:
        """Whether nothing differs: no object, and so no value."""
        return all(count.added == count.removed == count.changed == 0 for count in (*self.layers, *self.resources))

    @property
    def others(self) -> bool:
        """Whether there is any row to show but those of prices."""
        listings = (self.added, self.removed, self.renamed, self.moved, self.sets, self.watchlist, self.fingerprints)
        return bool(self.index_fields) or any(listing.rows for listing in listings)


def make_report(comparison: Comparison, top: int) -> DiffReport:
    """Ask a comparison for its counts and the first `top` rows of each list."""
    ask = _Asker(comparison, top)
    return DiffReport(
        *({"id": build.id, "as_of": build.as_of.isoformat()} for build in (comparison.old, comparison.new)),
        top=top,
        layers=comparison.layers(),
        resources=comparison.resources(),
        items=ask.all("item_counts"),
        fields=ask.all("field_counts"),
        prices=ask.all("price_counts"),
        bands=ask.all("distribution"),
        added=ask.first("products where what = 'added'", "id"),
        removed=ask.first("products where what = 'removed'", "id"),
        renamed=ask.first("renamed_products", "id"),
        moved=ask.first("moved_products", "id"),
        moves=[_moves(ask, price) for price in PRICES],
        sets=ask.first("set_changes", "id"),
        watchlist=ask.first("watchlist_changes", "abs(change_pct) desc nulls last, slug"),
        fingerprints=ask.first("items where resource = 'fingerprints'", "key", "key, change as what"),
        index_fields=ask.all("field_changes where resource = 'fingerprint index' order by place"),
    )


def _moves(ask: "_Asker", price: str) -> Moves:
    largest = {
        (way, measure): ask.first(
            f"ranked_moves where price = '{price}' and way = '{way}' and place_{measure} is not null",
            f"place_{measure}",
        )
        for way in WAYS
        for measure in MEASURES
    }
    nulls = {
        way: ask.first(f"ranked_nulls where price = '{price}' and way = '{way}'", "place")
        for way in ("appeared", "went")
    }
    return Moves(price, largest, nulls)


class _Asker:
    """Rows of views as dicts."""

    def __init__(self, comparison: Comparison, top: int):
        self.db, self.top = comparison.db, top

    def all(self, query: str) -> list[dict]:
        return self.db.table(f"from {query}").to_pylist()

    def first(self, query: str, order: str, columns: str = "*") -> Listing:
        [(total,)] = self.db.rows(f"select count(*) from {query}")
        rows = self.db.table(f"select {columns} from {query} order by {order} limit {self.top}").to_pylist()
        return Listing(total, rows)
