"""The rows of a lake as plain Python, and the columns of each table (section 1 of the contract).

Times are texts (`2024-03-03T06:00:00` with or without a fraction, in UTC); prices floats; a column that is
not in a row is null.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
Daily = dict[str, list[Row]]

HOLO = ("low", "avg", "trend", "avg1", "avg7", "avg30")
CHECK_OFFERS = {"price": "double", "condition": "text", "quantity": "int", "seller": "text"}
WATCH_OFFERS = {"seller": "text", "condition": "text", "quantity": "text", "price": "double", "comment": "text"}
COLUMNS: dict[str, dict[str, Any]] = {
    "expansions": {"id": "int", "name": "text", "game": "text", "url": "text"},
    "products": {
        "id_product": "int",
        "name": "text",
        "kind": "text",
        "category": "text",
        "id_expansion": "int",
        "rarity": "text",
        "number": "text",
        "image": "text",
        "image_large": "text",
        "url": "text",
        "date_added": "time",
    },
    "price_guide": {
        "id_product": "int",
        **dict.fromkeys(HOLO, "double"),
        **{f"{name}_holo": "double" for name in HOLO},
    },
    "listings": {
        "id_product": "int",
        "scraped_at": "time",
        "available": "int",
        "from_price": "double",
        "available_foil": "int",
        "from_price_foil": "double",
    },
    "filtered_checks": {
        "id_product": "int",
        "checked_at": "time",
        "offers": "int",
        "lowest": "double",
        "cheapest_seller": "text",
        "cheapest_condition": "text",
        "offer_list": CHECK_OFFERS,
    },
    "watchlist": {"slug": "text", "name": "text", "game": "text", "url": "text"},
    "watch_checks": {
        "slug": "text",
        "checked_at": "time",
        "num_offers": "int",
        "lowest_price": "double",
        "offer_list": WATCH_OFFERS,
    },
    "fingerprints": {
        "key": "text",
        "art_p": "text",
        "art_d": "text",
        "card_p": "text",
        "colour": "text",
        "products": "ints",
    },
    "identifiers": {"id_product": "int", "scheme": "text", "value": "text"},
}
REQUIRED = {
    "expansions": {"id", "name"},
    "products": {"id_product", "name", "kind"},
    "price_guide": {"id_product"},
    "listings": {"id_product", "scraped_at"},
    "filtered_checks": {"id_product", "checked_at", "offers"},
    "watchlist": {"slug", "name", "url"},
    "watch_checks": {"slug", "checked_at"},
    "fingerprints": {"key", "art_p", "art_d", "card_p", "colour", "products"},
    "identifiers": {"id_product", "scheme", "value"},
}


@dataclass(repr=False)
class Rows:
    """One lake. A whole table that is None, and a daily table without days, have no files at all."""

    products: list[Row]
    expansions: list[Row] | None = None
    watchlist: list[Row] | None = None
    fingerprints: list[Row] | None = None
    identifiers: list[Row] | None = None
    recipe: dict[str, str] | None = None
    price_guide: Daily = field(default_factory=dict)
    listings: Daily = field(default_factory=dict)
    filtered_checks: Daily = field(default_factory=dict)
    watch_checks: Daily = field(default_factory=dict)

    def __repr__(self) -> str:
        """Sizes alone: the rows are in the files of the lake that a failing test names."""
        parts = [f"{len(rows)} {table}" for table, rows in self.whole()]
        parts += [f"{len(rows)} {table} of {day}" for table, day, rows in self.daily()]
        return f"<lake: {', '.join(parts)}>"

    def whole(self) -> Iterator[tuple[str, list[Row]]]:
        """The tables that are there and not split by day."""
        for table in ("products", "expansions", "watchlist", "fingerprints", "identifiers"):
            rows = getattr(self, table)
            if rows is not None:
                yield table, rows

    def daily(self) -> Iterator[tuple[str, str, list[Row]]]:
        """Table, day and rows of every partition."""
        for table in ("price_guide", "listings", "filtered_checks", "watch_checks"):
            for day, rows in getattr(self, table).items():
                yield table, day, rows
