"""The formats of scraped lines: which keys a line may have, and the row that it becomes (docs/ingest.md).

Each `parse_…` function takes the JSON object of a line and returns the values of the format's columns in order, or
raises InvalidValue. Keys that are not named here are ignored.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import pyarrow as pa

from generator.ingest.scraped_values import (
    InvalidValue,
    parse_condition,
    parse_count,
    parse_id,
    parse_price,
    parse_text,
    parse_time,
    parse_url,
    quoted_json,
)
from generator.lake.schema import TIMESTAMP, arrow_schema

Json = dict[str, Any]
Row = tuple[Any, ...]


class LineFormat(NamedTuple):
    """How the lines of a file are parsed, and the columns of their rows.

    Attributes:
        is_csv_allowed: Whether the file may be CSV as well. Its values are then text, also where a line has integers.
    """

    parse: Callable[[Json], Row]
    schema: pa.Schema
    is_csv_allowed: bool = False


@cache
def list_page_format() -> LineFormat:
    """Return the format of rows of expansions' list pages: listings, then what a page says about the product."""
    texts = ("number", "rarity", "url", "image", "image_large", "expansion", "expansion_url")
    about_product = [pa.field("id_expansion", pa.int64()), *(pa.field(name, pa.string()) for name in texts)]
    return LineFormat(parse_list_page_row, pa.schema([*arrow_schema("listings"), *about_product]))


@cache
def offers_format() -> LineFormat:
    """Return the format of checks of products under the seller filter."""
    return LineFormat(parse_offers, arrow_schema("filtered_checks"))


@cache
def watch_check_format() -> LineFormat:
    """Return the format of checks of tracked products."""
    return LineFormat(parse_watch_check, arrow_schema("watch_checks"))


@cache
def attributes_format() -> LineFormat:
    """Return the format of tables of what the marketplace's product lists lack: a list page without prices."""
    texts = [pa.field(name, pa.string()) for name in ("number", "rarity", "url", "image", "image_large")]
    schema = [pa.field("id_product", pa.int64()), *texts, pa.field("updated_at", TIMESTAMP)]
    return LineFormat(parse_attributes, pa.schema(schema), is_csv_allowed=True)


@cache
def expansions_format() -> LineFormat:
    """Return the format of tables of expansions."""
    texts = [pa.field(name, pa.string()) for name in ("name", "game", "url")]
    schema = [pa.field("id", pa.int64()), *texts, pa.field("updated_at", TIMESTAMP)]
    return LineFormat(parse_expansion, pa.schema(schema), is_csv_allowed=True)


def parse_attributes(line: Json) -> Row:
    """Parse what a table says of a product."""
    return (
        _id_product(line),
        parse_text(line.get("number"), "number"),
        parse_text(line.get("rarity"), "rarity"),
        parse_url(line.get("url", line.get("cardmarket_url")), "url"),
        parse_text(line.get("image"), "image"),
        parse_text(line.get("image_large"), "image_large"),
        parse_time(line.get("updated_at"), "updated_at"),
    )


def parse_expansion(line: Json) -> Row:
    """Parse what a table says of an expansion."""
    key = next((key for key in ("id", "id_expansion", "idExpansion") if key in line), "id")
    return (
        _required(parse_id(line.get(key), key), key),
        parse_text(line.get("name", line.get("enName")), "name"),
        parse_text(line.get("game"), "game"),
        parse_url(line.get("url"), "url"),
        parse_time(line.get("updated_at"), "updated_at"),
    )


def parse_list_page_row(line: Json) -> Row:
    """Parse a product's row on the list page of an expansion."""
    foils = line.get("available_foils", line.get("available_foil"))
    return (
        _id_product(line),
        _required(parse_time(line.get("scraped_at", line.get("scrapedAt")), "scraped_at"), "scraped_at"),
        parse_count(line.get("available_items", line.get("available")), "available_items"),
        parse_price(line.get("from_price"), "from_price"),
        parse_count(foils, "available_foils"),
        parse_price(line.get("from_price_foil"), "from_price_foil"),
        parse_id(line.get("id_expansion", line.get("idExpansion")), "id_expansion"),
        parse_text(line.get("number"), "number"),
        parse_text(line.get("rarity"), "rarity"),
        parse_url(line.get("url"), "url"),
        parse_text(line.get("image"), "image"),
        parse_text(line.get("image_large"), "image_large"),
        parse_text(line.get("expansion"), "expansion"),
        parse_url(line.get("expansion_url"), "expansion_url"),
    )


def parse_offers(line: Json) -> Row:
    """Parse a check of a product under the seller filter. Builds read `lowest` and `cheapest_…` if there is no list."""
    id_product = _id_product(line)
    checked_at = _required(parse_time(line.get("checked_at", line.get("checkedAt")), "checked_at"), "checked_at")
    offers, listed = parse_count(line.get("offers"), "offers"), _offer_list(line, _offer)
    return (
        id_product,
        checked_at,
        len(listed) if offers is None and listed is not None else _required(offers, "offers and no offer_list"),
        parse_price(line.get("lowest"), "lowest"),
        _seller(line.get("cheapest_seller"), "cheapest_seller"),
        parse_condition(line.get("cheapest_condition"), "cheapest_condition"),
        listed,
    )


def parse_watch_check(line: Json) -> Row:
    """Parse a check of a tracked product."""
    return (
        _required(parse_text(line.get("slug"), "slug"), "slug"),
        _required(parse_time(line.get("checked_at", line.get("checkedAt")), "checked_at"), "checked_at"),
        parse_count(line.get("num_offers"), "num_offers"),
        parse_price(line.get("lowest_price"), "lowest_price"),
        _offer_list(line, _watch_offer),
    )


def _offer(offer: Json) -> Json:
    return {
        "price": parse_price(offer.get("price"), "price"),
        "condition": _condition(offer),
        "quantity": parse_count(offer.get("quantity"), "quantity"),
        "seller": _seller(offer.get("seller"), "seller"),
    }


def _watch_offer(offer: Json) -> Json:
    quantity = offer.get("quantity")
    return {
        "seller": _seller(offer.get("seller"), "seller"),
        "condition": _condition(offer),
        "quantity": parse_text(str(quantity) if type(quantity) is int else quantity, "quantity"),
        "price": parse_price(offer.get("price"), "price"),
        "comment": parse_text(offer.get("comment", offer.get("comments")), "comment"),
    }


def _offer_list(line: Json, parse: Callable[[Json], Json]) -> list[Json] | None:
    offers = line.get("offer_list")
    if offers is None:
        return None
    if type(offers) is not list or not all(type(offer) is dict for offer in offers):
        raise InvalidValue(f"offer_list must be a list of objects, not {quoted_json(offers)}")
    listed: list[Json] = []
    try:
        for offer in offers:
            listed.append(parse(offer))
    except InvalidValue as error:
        raise InvalidValue(f"offer {len(listed) + 1}: {error}") from None
    return listed


def _condition(offer: Json) -> str | None:
    code = parse_condition(offer.get("condition_code"), "condition_code")
    return code or parse_condition(offer.get("condition"), "condition")


def _seller(seller: Any, name: str) -> str | None:
    return parse_text(seller.get("name") if type(seller) is dict else seller, name)


def _id_product(line: Json) -> int:
    key = next((key for key in ("id_product", "idProduct", "id") if key in line), "id_product")
    id_product: int = _required(parse_id(line.get(key), key), key)
    return id_product


def _required(value: Any, name: str) -> Any:
    if value is None:
        raise InvalidValue(f"it has no {name}")
    return value
