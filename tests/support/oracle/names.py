"""Names: the different names of the products, for completion."""

from collections import Counter, defaultdict

from tests.support.oracle import games
from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.text import fold


def listed(lake: OracleLake, game: str) -> Row:
    """The names of the products, or of those of a game if it is given, by folded name."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for id_, row in lake.products.items():
        if not game or games.of_product(lake, id_) == fold(game):
            spellings[fold(row["name"])][row["name"]] += 1
    entries = [{"name": usual(found), "products": found.total()} for _, found in sorted(spellings.items())]
    return {"count": len(entries), "names": entries}


def usual(spellings: Counter[str]) -> str:
    """The spelling that occurs most; among equals the smallest by code point."""
    most = max(spellings.values())
    return min(spelling for spelling, count in spellings.items() if count == most)
