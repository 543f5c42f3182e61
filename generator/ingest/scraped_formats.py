"""The formats of scraped lines, and of lines of tables that operators keep (docs/ingest.md).

A format maps each column of its rows to the keys and the parser of its value. The parser of a line, the schema of the
rows and the command `cardpress ingest ‹name›` follow from it. Keys that no column reads are ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import pyarrow as pa

from generator.ingest.line_columns import (
    Column,
    Line,
    condition,
    count,
    first_value,
    marketplace_id,
    offers,
    price,
    required,
    seller,
    text,
    text_or_integer,
    time,
    url,
)
from generator.ingest.scraped_values import parse_count, parse_objects
from generator.ingest.table_files import DailyTable


@dataclass(frozen=True)
class LineFormat:
    """The format of lines of a table that operators keep. Such a file may be CSV as well, whose values are all text.

    Attributes:
        name: The command `cardpress ingest ‹name›`.
        help: What it imports, in the help of the command.
        example: The arguments of the command in the example of its help.
        columns: The columns of the rows in their order.
        remarks: Keys that only people read.
    """

    name: str
    help: str
    example: str
    columns: Mapping[str, Column]
    remarks: frozenset[str] = frozenset()
    is_csv_allowed: ClassVar[bool] = True

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return pa.schema([(name, column.type) for name, column in self.columns.items()])

    @property
    def keys(self) -> frozenset[str]:
        """The keys of a line that columns read."""
        return frozenset(key for column in self.columns.values() for key in column.keys)

    @property
    def value_keys(self) -> frozenset[str]:
        """The keys of columns other than the id, which stands first, and the time of a line."""
        id_ = next(iter(self.columns))
        values = (column for name, column in self.columns.items() if name not in (id_, "updated_at"))
        return frozenset(key for column in values for key in column.keys)

    def parse(self, line: Line) -> tuple[Any, ...]:
        """Return the values of the columns for a line.

        Raises:
            InvalidValue: A value is wrong, or a required one is absent.
        """
        return tuple([column.read(line) for column in self.columns.values()])


@dataclass(frozen=True, kw_only=True)
class ScrapedFormat(LineFormat):
    """The format of lines of a scraper, which become rows of a daily table.

    Attributes:
        table: The table. `columns` has all of its columns.
        further_help: What the command also does.
    """

    table: DailyTable
    further_help: str = ""
    is_csv_allowed: ClassVar[bool] = False


def _offers(line: Line) -> int | None:
    """Return how many offers a check counted: `offers`, or else the length of the list."""
    counted = parse_count(line.get("offers"), "offers")
    listed = parse_objects(line.get("offer_list"), "offer_list")
    return len(listed) if counted is None and listed is not None else counted


_ID_PRODUCT = required(marketplace_id("id_product", "idProduct", "id"))
_SCRAPED_AT = required(time("scraped_at", "scrapedAt"))
_CHECKED_AT = required(time("checked_at", "checkedAt"))
_CONDITION = first_value(condition("condition_code"), condition("condition"))

ABOUT_PRODUCT = {
    "number": text("number"),
    "rarity": text("rarity"),
    "url": url("url"),
    "image": text("image"),
    "image_large": text("image_large"),
}

LIST_PAGES = ScrapedFormat(
    "list-pages",
    help="Import rows of expansions' list pages.",
    further_help="They also set number, rarity, url and image of products, and names and urls of expansions.",
    example="pages.jsonl.gz --bad-lines refused.jsonl",
    table=DailyTable("listings", product="id_product", time="scraped_at"),
    columns={
        "id_product": _ID_PRODUCT,
        "scraped_at": _SCRAPED_AT,
        "available": count("available_items", "available"),
        "from_price": price("from_price"),
        "available_foil": count("available_foils", "available_foil"),
        "from_price_foil": price("from_price_foil"),
        "id_expansion": marketplace_id("id_expansion", "idExpansion"),
        **ABOUT_PRODUCT,
        "expansion": text("expansion"),
        "expansion_url": url("expansion_url"),
    },
)

# Builds read `lowest` and `cheapest_…` if there is no list.
OFFERS = ScrapedFormat(
    "offers",
    help="Import checks of products under the seller filter.",
    example="offers.jsonl",
    table=DailyTable("filtered_checks", product="id_product", time="checked_at"),
    columns={
        "id_product": _ID_PRODUCT,
        "checked_at": _CHECKED_AT,
        "offers": required(Column(("offers", "offer_list"), _offers, pa.int64())),
        "lowest": price("lowest"),
        "cheapest_seller": seller("cheapest_seller"),
        "cheapest_condition": condition("cheapest_condition"),
        "offer_list": offers(
            "offer_list",
            {
                "price": price("price"),
                "condition": _CONDITION,
                "quantity": count("quantity"),
                "seller": seller("seller"),
            },
        ),
    },
)

WATCH_CHECKS = ScrapedFormat(
    "watch-checks",
    help="Import the monitor's checks of tracked products.",
    example="checks.jsonl",
    table=DailyTable("watch_checks", product="slug", time="checked_at"),
    columns={
        "slug": required(text("slug")),
        "checked_at": _CHECKED_AT,
        "num_offers": count("num_offers"),
        "lowest_price": price("lowest_price"),
        "offer_list": offers(
            "offer_list",
            {
                "seller": seller("seller"),
                "condition": _CONDITION,
                "quantity": text_or_integer("quantity"),
                "price": price("price"),
                "comment": text("comment", "comments"),
            },
        ),
    },
)

SCRAPED_FORMATS = (LIST_PAGES, OFFERS, WATCH_CHECKS)

EXPANSIONS = LineFormat(
    "expansions",
    help="Import names, games and URLs of expansions.",
    example="expansions.csv --game Digimon",
    columns={
        "id": required(marketplace_id("id", "id_expansion", "idExpansion")),
        "name": text("name", "enName"),
        "game": text("game"),
        "url": url("url"),
        "updated_at": time("updated_at"),
    },
    remarks=frozenset({"products", "examples"}),  # of the template
)

# What the marketplace's product lists lack: a list page without prices.
ATTRIBUTES = LineFormat(
    "attributes",
    help="Import numbers, rarities, URLs and images of products.",
    example="attributes.csv",
    columns={
        "id_product": _ID_PRODUCT,
        **(ABOUT_PRODUCT | {"url": url("url", "cardmarket_url")}),
        "updated_at": time("updated_at"),
    },
)
