"""Reads a lake folder into dictionaries, with every rule on reading applied (section 1)."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.oracle.rounding import price
from tests.support.oracle.text import fold

Row = dict[str, Any]
CONDITIONS = ("MT", "NM", "EX", "GD", "LP", "PL", "PO")
GUIDE_PRICES = ("low", "avg", "trend", "avg1", "avg7", "avg30")
GUIDE = ("id_product", *GUIDE_PRICES, *(f"{name}_holo" for name in GUIDE_PRICES))
LISTING = ("id_product", "scraped_at", "available", "from_price", "available_foil", "from_price_foil")
CHECK = ("id_product", "checked_at", "offers", "lowest", "cheapest_seller", "cheapest_condition", "offer_list")
CHECK_OFFER = ("price", "condition", "quantity", "seller")
WATCH_CHECK = ("slug", "checked_at", "num_offers", "lowest_price", "offer_list")
WATCH_OFFER = ("seller", "condition", "quantity", "price", "comment")
DAILY_TABLES = ("price_guide", "listings", "filtered_checks", "watch_checks")
PRICES = {*GUIDE[1:], "from_price", "from_price_foil", "lowest", "lowest_price"}


class OracleLake:
    """The lake as of one day. Rows of unknown products and slugs are gone, prices are rounded.

    `guide`, `listings`, `checks`: id_product -> day -> the row that stands for the day.
    `watch_checks`: slug -> every check, oldest first, each with its partition under `day`.
    """

    def __init__(self, folder: Path, as_of: str | None = None) -> None:
        self.folder = Path(folder)
        self.as_of = date.fromisoformat(as_of) if as_of else max(self._all_days())
        self.expansions = {row["id"]: row for row in self._whole("expansions")}
        self.products = {row["id_product"]: row for row in self._whole("products")}
        self.watchlist = {row["slug"]: row for row in self._whole("watchlist")}
        self.fingerprints = self._whole("fingerprints")
        self.recipe = self._recipe()
        self.identifiers = {
            (row["id_product"], row["scheme"], row["value"])
            for row in self._whole("identifiers")
            if row["id_product"] in self.products
        }
        self.guide = self._standing("price_guide", GUIDE, None)
        self.listings = self._standing("listings", LISTING, "scraped_at")
        self.checks = self._standing("filtered_checks", CHECK, "checked_at")
        self.watch_checks = self._watch_checks()

    def _recipe(self) -> Row:
        path = self.folder / "fingerprints.json"
        return json.loads(path.read_text("utf-8")) if path.exists() else {"version": "none", "image_url": "{key}"}

    def _all_days(self) -> list[date]:
        files = [f for table in DAILY_TABLES for f in (self.folder / table).glob("day=*/*.parquet")]
        return [_partition(file) for file in files]

    def _whole(self, table: str) -> list[Row]:
        return [row for file in sorted(self.folder.glob(f"{table}*.parquet")) for row in _rows(file)]

    def _daily(self, table: str, columns: tuple[str, ...]) -> list[Row]:
        """Every row up to the as-of day with all its columns and its `day`; later files are not opened."""
        files = sorted((self.folder / table).glob("day=*/*.parquet"))
        return [
            _clean(row, columns) | {"day": _partition(file)}
            for file in files
            if _partition(file) <= self.as_of
            for row in _rows(file)
        ]

    def _standing(self, table: str, columns: tuple[str, ...], time: str | None) -> dict[int, dict[date, Row]]:
        """Of several rows of one product on one day, the one that stands for the day."""
        found: dict[int, dict[date, Row]] = {}
        for row in self._daily(table, columns):
            if row["id_product"] not in self.products:
                continue
            days = found.setdefault(row["id_product"], {})
            best = days.get(row["day"])
            if best is None or rank(row, columns, time) > rank(best, columns, time):
                days[row["day"]] = row
        return found

    def _watch_checks(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {slug: [] for slug in self.watchlist}
        own = {fold(slug): slug for slug in self.watchlist}
        for row in self._daily("watch_checks", WATCH_CHECK):
            if slug := own.get(fold(row["slug"])):
                found[slug].append(row | {"slug": slug})
        for checks in found.values():
            checks.sort(key=lambda row: (row["day"], rank(row, WATCH_CHECK, "checked_at")))
        return found


def rank(row: Row, columns: tuple[str, ...], time: str | None) -> tuple:
    """Orders rows of one day: by time, then by all columns in the table's order."""
    return (row[time] if time else 0, [comparable(row[column]) for column in columns])


def comparable(value: Any) -> tuple:
    """Null is least, a list compares item by item, a struct field by field in its order."""
    if value is None:
        return (0,)
    if isinstance(value, list):
        return (1, [comparable(item) for item in value])
    if isinstance(value, dict):
        return (1, [comparable(item) for item in value.values()])
    return (1, value)


def _partition(file: Path) -> date:
    return date.fromisoformat(file.parent.name.removeprefix("day="))


def _rows(file: Path) -> list[Row]:
    table = pq.ParquetFile(file).read()
    columns = {name: _values(table.column(name)) for name in table.column_names}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _values(column: pa.ChunkedArray) -> list[Any]:
    if not pa.types.is_timestamp(column.type):
        return column.to_pylist()
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[column.type.unit]
    return [None if v is None else v // per_second for v in column.cast(pa.int64()).to_pylist()]


def _clean(row: Row, columns: tuple[str, ...]) -> Row:
    clean = {name: price(row.get(name)) if name in PRICES else row.get(name) for name in columns}
    if clean.get("offer_list") is not None:
        fields = WATCH_OFFER if "slug" in columns else CHECK_OFFER
        offers = [_offer(offer, fields) for offer in clean["offer_list"]]
        clean["offer_list"] = offers if "slug" in columns else [o for o in offers if _complete(o)]
    return clean


def _offer(offer: Row | None, fields: tuple[str, ...]) -> Row:
    offer = offer or {}
    return {name: price(offer.get(name)) if name == "price" else offer.get(name) for name in fields}


def _complete(offer: dict[str, str | int | Decimal | None]) -> bool:
    has_both = offer["price"] is not None and offer["seller"] is not None
    return has_both and offer["condition"] in CONDITIONS
