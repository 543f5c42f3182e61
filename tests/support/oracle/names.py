"""Names: the different names of the products, for completion."""

from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any

from tests.support.oracle import games, market_price
from tests.support.oracle.cards import Cards
from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.rounding import number
from tests.support.oracle.text import base_name, fold, words

WAYS = ("name", "base", "short", "face")


def listed(lake: OracleLake, game: str) -> Row:
    """The base names of the products, or of those of a game if it is given, by their words."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for id_, row in lake.products.items():
        if not game or games.of_product(lake, id_) == fold(game):
            base = base_name(row["name"])
            spellings[" ".join(words(base))][base] += 1
    spellings.pop("", None)
    entries = [{"name": usual(found), "products": found.total()} for _, found in sorted(spellings.items())]
    return {"count": len(entries), "names": entries}


def of_list(cards: Cards, query: dict[str, Any]) -> Row:
    """The products of each name of a list: those of that name, else of that base name, else of that short name,
    else of that front face."""
    lake, game, kind, data, not_found = cards.lake, query["game"], query["kind"], [], []
    ids = [id_ for id_, row in lake.products.items() if kind in ("all", row["kind"])]
    ids = [id_ for id_ in ids if not game or games.of_product(lake, id_) == fold(game)]
    for name in dict.fromkeys(query["names"]):
        ways = ((way, [id_ for id_ in ids if _means(way, name, lake.products[id_]["name"])]) for way in WAYS)
        matched, found = next(((way, found) for way, found in ways if found), ("", []))
        prices = {id_: market_price.newest(lake, id_) for id_ in found}
        found.sort(key=lambda id_: (prices[id_] is None, prices[id_] or 0, id_))
        if not found:
            not_found.append(name)
            continue
        first, price = found[0], prices[found[0]]
        cheapest = None if price is None else {"id_product": first, "price": number(price)}
        entry = {"name": name, "matched": matched, "products": len(found)}
        entry |= {"ids": found[:100], "cheapest": cheapest}
        if query["printings"] == "true":
            entry["printings"] = [_printing(cards.card(id_), prices[id_]) for id_ in found[:100]]
        data.append(entry)
    return {"data": data, "not_found": not_found}


def _printing(card: Row, price: Decimal | None) -> Row:
    low = (card["filtered_price"] or {}).get("lowest")
    return {name: card[name] for name in ("id_product", "set", "number")} | {"price": number(price), "low": low}


def _means(way: str, asked: str, name: str) -> bool:
    if not words(asked):
        return way == "name" and fold(asked) == fold(name)
    base = base_name(name)
    face = name.split(" // ")[0].split(" / ")[0]
    return words(asked) == words({"name": name, "base": base, "short": base.split(" - ")[0], "face": face}[way])


def usual(spellings: Counter[str]) -> str:
    """The spelling that occurs most; among equals the smallest by code point."""
    most = max(spellings.values())
    return min(spelling for spelling, count in spellings.items() if count == most)
