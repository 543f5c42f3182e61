"""The formats of lines: scraped lines, and lines of tables that operators keep (docs/ingest.md).

A format maps each column of its rows to the keys and the parser of its value:

price("from_price")                  # the value of "from_price", as a price
time("scraped_at", "scrapedAt")      # under one of these keys
required(text("slug"))               # a line without it is refused
offers("offer_list", {"price": …})   # a list of objects, each with these columns

The parser of a line, the schema of the rows and the command `cardpress ingest ‹name›` follow from it. Keys that no
column reads are ignored.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa

from generator.ingest import values
from generator.ingest.table_files import DailyTable
from generator.ingest.values import InvalidValue, parse_count, parse_objects, parse_price, parse_text, quoted_json
from generator.lake.tables import TIMESTAMP, longest_text

Line = dict[str, Any]


class Column(NamedTuple):
    """A column of rows: the keys of a line that it reads, its value for a line (or InvalidValue), and its type."""

    keys: tuple[str, ...]
    read: Callable[[Line], Any]
    type: pa.DataType
    is_required: bool = False


def _reading(parse: Callable[[Any, str], Any], type_: pa.DataType) -> Callable[..., Column]:
    """Return a function that makes columns whose value stands under one of the keys that it is given."""
    return lambda *keys: Column(keys, partial(_one_value, keys=keys, parse=parse), type_)


text = _reading(parse_text, pa.string())
collector_number = _reading(values.parse_number, pa.string())
text_or_integer = _reading(values.parse_text_or_integer, pa.string())
url = _reading(values.parse_url, pa.string())
condition = _reading(values.parse_condition, pa.string())
seller = _reading(values.parse_seller, pa.string())
price = _reading(parse_price, pa.float64())
count = _reading(parse_count, pa.int64())
marketplace_id = _reading(values.parse_id, pa.int64())
time = _reading(values.parse_time, TIMESTAMP)


def offers(*keys: str, members: Mapping[str, Column]) -> Column:
    """Return a column of lists of offers, each of which has these members."""

    def read(line: Line) -> list[Line] | None:
        listed: list[Line] = []
        given: list[Line] | None = _one_value(line, keys, parse_objects)
        try:
            for offer in given or ():
                listed.append({name: column.read(offer) for name, column in members.items()})
        except InvalidValue as error:
            raise InvalidValue(f"offer {len(listed) + 1}: {error}") from None
        return None if given is None else listed

    inner = (key for column in members.values() for key in column.keys)
    return Column((*keys, *inner), read, pa.list_(pa.struct([(name, column.type) for name, column in members.items()])))


def required(column: Column) -> Column:
    """Return the column, which refuses a line without a value."""
    first, *others = column.keys
    missing = f"it has no {first}" + (f" (or {', '.join(others)})" if others else "")

    def read(line: Line) -> Any:
        value = column.read(line)
        if value is None:
            raise InvalidValue(missing)
        return value

    return column._replace(read=read, is_required=True)


def bounded(table: str, **columns: Column) -> dict[str, Column]:
    """Return columns of a table of the lake, which refuse a line with a longer text than the table takes."""
    return {name: _bounded(table, name, column) for name, column in columns.items()}


def _bounded(table: str, name: str, column: Column) -> Column:
    has_texts = column.type == pa.string() or pa.types.is_list(column.type)
    return column._replace(read=partial(_short, table, name, column.read)) if has_texts else column


def _short(table: str, name: str, read: Callable[[Line], Any], line: Line) -> Any:
    """Return the value of a column. Raise InvalidValue if it is a text, or a list with one, that is too long."""
    value = read(line)
    if type(value) is str:
        check_length(table, name, value)
    elif value:
        for text in (text for offer in value for text in offer.values() if type(text) is str):
            check_length(table, name, text, "holds a text of")
    return value


def check_length(table: str, column: str, text: str, has: str = "has") -> None:
    """Raise InvalidValue for a text that is longer than a table of the lake takes."""
    if len(text) > (most := longest_text(column)):
        raise InvalidValue(f"{table}: column {column} {has} more than {most} characters: {quoted_json(text)}")


def _one_value(line: Line, keys: tuple[str, ...], parse: Callable[[Any, str], Any]) -> Any:
    """Return the value that a line has under one of these keys, or under several if all say the same."""
    said, value = "", None
    for key in keys:
        if key in line and (other := parse(line[key], key)) is not None:
            if said and other != value:
                raise InvalidValue(f"{said} and {key} are the same column, but have other values: leave one out")
            said, value = said or key, other
    return value


def _euros(offer: Line) -> Any:
    """Return the price of an offer in euros, also of an article of the marketplace's API in another currency."""
    price_in_euros = parse_price(offer.get("priceEUR"), "priceEUR")
    if price_in_euros is not None:
        return price_in_euros
    currency = _one_value(offer, ("currencyCode", "currency"), parse_text)
    if currency not in (None, "EUR", "€"):
        raise InvalidValue(f"price is in {currency}: give it in euros, or as priceEUR")
    return parse_price(offer.get("price"), "price")


@dataclass(frozen=True)
class LineFormat:
    """The format of lines of a table that operators keep. Such a file may be CSV as well, whose values are all text."""

    may_be_csv: ClassVar[bool] = True
    name: str  # the command `cardpress ingest ‹name›`
    columns: Mapping[str, Column]
    help: str = ""
    example: str = ""  # the arguments of the command, for its help
    remarks: frozenset[str] = frozenset()  # keys that only people read
    one_of: tuple[str, ...] = ()  # keys of which a table must have one

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return pa.schema([(name, column.type) for name, column in self.columns.items()])

    @property
    def keys(self) -> frozenset[str]:
        """The keys of a line that columns read."""
        return frozenset(key for column in self.columns.values() for key in column.keys)

    @property
    def required_keys(self) -> list[tuple[str, ...]]:
        """The keys of each column that a table must have."""
        columns = [column.keys for column in self.columns.values() if column.is_required]
        return columns + ([self.one_of] if self.one_of else [])

    @property
    def integer_keys(self) -> frozenset[str]:
        """The keys of integers. Numbers of cards stay as written: 004."""
        columns = (column for column in self.columns.values() if pa.types.is_integer(column.type))
        return frozenset(key for column in columns for key in column.keys)

    @property
    def value_keys(self) -> frozenset[str]:
        """The keys of columns other than the id, which stands first, and the time of a line."""
        id_ = next(iter(self.columns))
        columns = (column for name, column in self.columns.items() if name not in (id_, "updated_at"))
        return frozenset(key for column in columns for key in column.keys)

    def parse(self, line: Line) -> tuple[Any, ...]:
        """Return the values of the columns for a line. Raise InvalidValue if one is wrong, or a required one absent."""
        return tuple([column.read(line) for column in self.columns.values()])


@dataclass(frozen=True, kw_only=True)
class ScrapedFormat(LineFormat):
    """The format of lines of a scraper, which become rows of a daily table with the same columns."""

    may_be_csv: ClassVar[bool] = False
    table: DailyTable
    further_help: str = ""  # what the command also does
    counts: str = ""  # the column of a check that says how many offers there are
    lowest: str = ""  # the column with the lowest price
    needed: tuple[str, ...] = ()  # what an offer is incomplete without

    def contradiction(self, counted: int | None, listed: int | None, least: float | None, **_: object) -> str:
        """Return how the count of a check contradicts its offers."""
        if counted is None:
            return f"offer_list has 0, but {self.lowest} is {least}"
        if listed is not None and (counted < listed or (counted and not listed)):
            return f"{self.counts} is {counted:,}, but offer_list has {listed:,}"
        return f"{self.counts} is 0, but {self.lowest} is {least}"


_LISTED = ("offer_list", "article")


def _offers(line: Line) -> int | None:
    """Return how many offers a check counted: `offers`, or else the length of the list."""
    counted = parse_count(line.get("offers"), "offers")
    listed: list[Line] | None = _one_value(line, _LISTED, parse_objects)
    return len(listed) if counted is None and listed is not None else counted


_ID_PRODUCT = required(marketplace_id("id_product", "idProduct", "id"))
_SCRAPED_AT = required(time("scraped_at", "scrapedAt"))
_CHECKED_AT = required(time("checked_at", "checkedAt"))
_PRICE = Column(("price", "priceEUR", "currencyCode", "currency"), _euros, pa.float64())
_CONDITION = condition("condition_code", "condition")

ABOUT_PRODUCT = bounded(
    "products",
    number=collector_number("number"),
    rarity=text("rarity"),
    url=url("url"),
    image=text("image"),
    image_large=text("image_large"),
)

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
        "expansion": _bounded("expansions", "name", text("expansion")),
        "expansion_url": _bounded("expansions", "url", url("expansion_url")),
    },
)

# Builds read `lowest` and `cheapest_…` if there is no list.
OFFERS = ScrapedFormat(
    "offers",
    help="Import checks of products under the seller filter.",
    example="offers.jsonl",
    table=DailyTable("filtered_checks", product="id_product", time="checked_at"),
    counts="offers",
    lowest="lowest",
    needed=("price", "seller", "condition"),
    columns=bounded(
        "filtered_checks",
        id_product=_ID_PRODUCT,
        checked_at=_CHECKED_AT,
        offers=required(Column(("offers", *_LISTED), _offers, pa.int64())),
        lowest=price("lowest"),
        cheapest_seller=seller("cheapest_seller"),
        cheapest_condition=condition("cheapest_condition"),
        offer_list=offers(
            *_LISTED,
            members={
                "price": _PRICE,
                "condition": _CONDITION,
                "quantity": count("quantity", "count"),
                "seller": seller("seller"),
            },
        ),
    ),
)

WATCH_CHECKS = ScrapedFormat(
    "watch-checks",
    help="Import the monitor's checks of tracked products.",
    example="checks.jsonl",
    table=DailyTable("watch_checks", product="slug", time="checked_at"),
    counts="num_offers",
    lowest="lowest_price",
    needed=("price",),
    columns=bounded(
        "watch_checks",
        slug=required(text("slug")),
        checked_at=_CHECKED_AT,
        num_offers=count("num_offers"),
        lowest_price=price("lowest_price"),
        offer_list=offers(
            *_LISTED,
            members={
                "seller": seller("seller"),
                "condition": _CONDITION,
                "quantity": text_or_integer("quantity", "count"),
                "price": _PRICE,
                "comment": text("comment", "comments"),
            },
        ),
    ),
)

SCRAPED_FORMATS = (LIST_PAGES, OFFERS, WATCH_CHECKS)

EXPANSIONS = LineFormat(
    "expansions",
    help="Import names, games and URLs of expansions.",
    example="expansions.csv --game Digimon",
    columns=bounded(
        "expansions",
        id=required(marketplace_id("id", "id_expansion", "idExpansion")),
        name=text("name", "enName"),
        game=text("game"),
        url=url("url"),
        updated_at=time("updated_at"),
    ),
    remarks=frozenset({"products", "examples"}),  # of the template
)

# What the marketplace's product lists lack: a list page without prices.
ATTRIBUTES = LineFormat(
    "attributes",
    help="Import numbers, rarities, URLs and images of products.",
    example="attributes.csv",
    columns={
        "id_product": _ID_PRODUCT,
        **(ABOUT_PRODUCT | bounded("products", url=url("url", "cardmarket_url"))),
        "updated_at": time("updated_at"),
    },
)

# The products that the watchlist tracks.
WATCHLIST = LineFormat(
    "watchlist",
    help="Import the products that the watchlist tracks.",
    one_of=("url", "cardmarket_url", "slug"),
    example="watchlist.csv",
    columns=bounded(
        "watchlist",
        slug=text("slug"),
        url=url("url", "cardmarket_url"),
        name=text("name"),
        game=text("game"),
    ),
)

# A price guide as the marketplace made them before 2024, by the keys of its JSON.
CSV_GUIDE = LineFormat(
    "price-guide",
    columns={
        "idProduct": required(marketplace_id("idProduct")),
        "low": price("low", "Low Price"),
        "avg": price("avg", "Avg. Sell Price"),
        "trend": price("trend", "Trend Price"),
        **{figure: price(figure) for figure in ("avg1", "avg7", "avg30")},
        "low-foil": price("low-foil", "low-holo", "Foil Low"),
        "avg-foil": price("avg-foil", "avg-holo", "Foil Sell"),
        "trend-foil": price("trend-foil", "trend-holo", "Foil Trend"),
        **{
            f"{figure}-foil": price(f"{figure}-foil", f"{figure}-holo", f"Foil {figure.upper()}")
            for figure in ("avg1", "avg7", "avg30")
        },
    },
    remarks=frozenset(
        {"German Pro Low", "Suggested Price", "Low Price Ex+", "idCategory", "Name", "Expansion", "Rarity"}
    ),
)
