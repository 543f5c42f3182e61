"""Names: the different names of the products, for completion."""

from collections import Counter, defaultdict

from tests.support.oracle import games
from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.text import base_name, fold, words


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


def usual(spellings: Counter[str]) -> str:
    """The spelling that occurs most; among equals the smallest by code point."""
    most = max(spellings.values())
    return min(spelling for spelling, count in spellings.items() if count == most)
