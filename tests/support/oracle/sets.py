"""Sets: the expansions of the lake with their product counts."""

from tests.support.oracle import games
from tests.support.oracle.cards import market_url
from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.text import bare, fold


def search(lake: OracleLake, q: str, game: str) -> list[Row]:
    """Sets whose bare name holds the bare, trimmed text, by folded name and id; of one game if it is given."""
    wanted = bare(q.strip())
    rows = [row for row in lake.expansions.values() if wanted in bare(row["name"])]
    if game:
        rows = [row for row in rows if games.key(row.get("game")) == fold(game)]
    return [_set(lake, row) for row in sorted(rows, key=lambda row: (fold(row["name"]), row["id"]))]


def _set(lake: OracleLake, row: Row) -> Row:
    kinds = [p["kind"] for p in lake.products.values() if p.get("id_expansion") == row["id"]]
    return {
        "id": row["id"],
        "name": row["name"],
        "products": len(kinds),
        "singles": kinds.count("single"),
        "cardmarket_url": market_url(row.get("url")),
    }
