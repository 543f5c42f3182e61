"""Facets: how many of the products that match are of each kind, rarity, game and set."""

from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any

from tests.support.oracle import games, market_price
from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.names import usual
from tests.support.oracle.rounding import number
from tests.support.oracle.text import fold

MOST = 100


def counted(lake: OracleLake, ids: list[int]) -> Row:
    rows, rarities = [lake.products[id_] for id_ in ids], _rarities(lake)
    spelled = {fold(name): name for name in (game["name"] for game in games.listed(lake))}
    prices = [price for id_ in ids if (price := market_price.newest(lake, id_)) is not None]
    sets = _most_first(Counter(row.get("id_expansion") for row in rows))
    return {
        "products": len(rows),
        "kinds": _values(Counter(row["kind"] for row in rows)),
        "rarities": _values(Counter(rarities.get(fold(row.get("rarity") or "")) for row in rows)),
        "games": _values(Counter(spelled.get(games.of_product(lake, id_)) for id_ in ids)),
        "sets": [{"id": id_, "name": lake.expansions.get(id_, {}).get("name"), "products": n} for id_, n in sets],
        "priced": len(prices),
        "value": number(sum(prices, Decimal(0))),
    }


def _rarities(lake: OracleLake) -> dict[str, str]:
    """The spelling of each folded rarity that most products of the whole lake have."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for row in lake.products.values():
        spellings[fold(row.get("rarity") or "")][row.get("rarity") or ""] += 1
    return {folded: usual(found) for folded, found in spellings.items() if folded}


def _values(counts: Counter[str | None]) -> list[Row]:
    return [{"value": value, "products": products} for value, products in _most_first(counts)]


def _most_first(counts: Counter[Any]) -> list[tuple[Any, int]]:
    known = sorted(((value, n) for value, n in counts.items() if value is not None), key=lambda e: (-e[1], e[0]))
    unknown = [(None, counts[None])] if None in counts else []
    return known[: MOST - len(unknown)] + unknown
