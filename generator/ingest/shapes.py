"""What a line of each kind of scraped file may say, and the row it becomes (docs/ingest.md).

Each `…_row` takes a line's JSON object and gives the values of its schema in order, or raises a Refusal. Keys that
are not named here are not read.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa

from generator.ingest.tables import TIMESTAMP
from generator.ingest.values import Refusal, condition, count, identifier, moment, page, price, shown, text

Json = dict[str, Any]


class Shape(NamedTuple):
    """How lines of a kind are read, and the columns they become."""

    row: Callable[[Json], tuple]
    schema: pa.Schema


def list_page_row(line: Json) -> tuple:
    """A product's row on the list page of an expansion."""
    foils = line.get("available_foils", line.get("available_foil"))
    return (
        _id_product(line),
        _required(moment(line.get("scraped_at", line.get("scrapedAt")), "scraped_at"), "scraped_at"),
        count(line.get("available_items", line.get("available")), "available_items"),
        price(line.get("from_price"), "from_price"),
        count(foils, "available_foils"),
        price(line.get("from_price_foil"), "from_price_foil"),
        identifier(line.get("id_expansion", line.get("idExpansion")), "id_expansion"),
        text(line.get("number"), "number"),
        text(line.get("rarity"), "rarity"),
        page(line.get("url"), "url"),
        text(line.get("image"), "image"),
        text(line.get("image_large"), "image_large"),
        text(line.get("expansion"), "expansion"),
        page(line.get("expansion_url"), "expansion_url"),
    )


def offers_row(line: Json) -> tuple:
    """A check of a product under the seller filter. `lowest` and `cheapest_…` count only where there is no list."""
    id_product = _id_product(line)
    checked_at = _required(moment(line.get("checked_at", line.get("checkedAt")), "checked_at"), "checked_at")
    offers, listed = count(line.get("offers"), "offers"), _offers(line, _offer)
    return (
        id_product,
        checked_at,
        len(listed) if offers is None and listed is not None else _required(offers, "offers and no offer_list"),
        price(line.get("lowest"), "lowest"),
        _seller(line.get("cheapest_seller"), "cheapest_seller"),
        condition(line.get("cheapest_condition"), "cheapest_condition"),
        listed,
    )


def watch_check_row(line: Json) -> tuple:
    """A check of a tracked product by the monitor."""
    return (
        _required(text(line.get("slug"), "slug"), "slug"),
        _required(moment(line.get("checked_at", line.get("checkedAt")), "checked_at"), "checked_at"),
        count(line.get("num_offers"), "num_offers"),
        price(line.get("lowest_price"), "lowest_price"),
        _offers(line, _watch_offer),
    )


def _offer(offer: Json) -> Json:
    return {
        "price": price(offer.get("price"), "price"),
        "condition": _condition(offer),
        "quantity": count(offer.get("quantity"), "quantity"),
        "seller": _seller(offer.get("seller"), "seller"),
    }


def _watch_offer(offer: Json) -> Json:
    quantity = offer.get("quantity")
    return {
        "seller": _seller(offer.get("seller"), "seller"),
        "condition": _condition(offer),
        "quantity": text(str(quantity) if type(quantity) is int else quantity, "quantity"),
        "price": price(offer.get("price"), "price"),
        "comment": text(offer.get("comment", offer.get("comments")), "comment"),
    }


def _offers(line: Json, read: Callable[[Json], Json]) -> list[Json] | None:
    offers = line.get("offer_list")
    if offers is None:
        return None
    if type(offers) is not list or not all(type(offer) is dict for offer in offers):
        raise Refusal(f"offer_list must be a list of objects, not {shown(offers)}")
    listed: list[Json] = []
    try:
        for offer in offers:
            listed.append(read(offer))
    except Refusal as refusal:
        raise Refusal(f"offer {len(listed) + 1}: {refusal}") from None
    return listed


def _condition(offer: Json) -> str | None:
    return condition(offer.get("condition_code"), "condition_code") or condition(offer.get("condition"), "condition")


def _seller(seller: Any, name: str) -> str | None:
    return text(seller.get("name") if type(seller) is dict else seller, name)


def _id_product(line: Json) -> int:
    key = next((key for key in ("id_product", "idProduct", "id") if key in line), "id_product")
    return _required(identifier(line.get(key), key), key)


def _required(value: Any, name: str) -> Any:
    if value is None:
        raise Refusal(f"it has no {name}")
    return value


_OFFER = {"price": pa.float64(), "condition": pa.string(), "quantity": pa.int64(), "seller": pa.string()}
_WATCH_OFFER = {
    "seller": pa.string(),
    "condition": pa.string(),
    "quantity": pa.string(),
    "price": pa.float64(),
    "comment": pa.string(),
}

LIST_PAGE = Shape(
    list_page_row,
    pa.schema(
        [
            ("id_product", pa.int64()),
            ("scraped_at", TIMESTAMP),
            ("available", pa.int64()),
            ("from_price", pa.float64()),
            ("available_foil", pa.int64()),
            ("from_price_foil", pa.float64()),
            ("id_expansion", pa.int64()),
            ("number", pa.string()),
            ("rarity", pa.string()),
            ("url", pa.string()),
            ("image", pa.string()),
            ("image_large", pa.string()),
            ("expansion", pa.string()),
            ("expansion_url", pa.string()),
        ]
    ),
)
OFFERS = Shape(
    offers_row,
    pa.schema(
        [
            ("id_product", pa.int64()),
            ("checked_at", TIMESTAMP),
            ("offers", pa.int64()),
            ("lowest", pa.float64()),
            ("cheapest_seller", pa.string()),
            ("cheapest_condition", pa.string()),
            ("offer_list", pa.list_(pa.struct(list(_OFFER.items())))),
        ]
    ),
)
WATCH_CHECK = Shape(
    watch_check_row,
    pa.schema(
        [
            ("slug", pa.string()),
            ("checked_at", TIMESTAMP),
            ("num_offers", pa.int64()),
            ("lowest_price", pa.float64()),
            ("offer_list", pa.list_(pa.struct(list(_WATCH_OFFER.items())))),
        ]
    ),
)
