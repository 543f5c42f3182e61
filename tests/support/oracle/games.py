"""Games: the games of the expansions, and which product belongs to which."""

from datetime import date
from functools import lru_cache

from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.text import fold


def key(game: str | None) -> str | None:
    """Return the text by which games differ; None for no game."""
    return fold(game or "") or None


@lru_cache(8)
def _keys(lake: OracleLake) -> dict[int, str | None]:
    expansions = {id_: row["id_expansion"] for id_, row in lake.products.items() if "id_expansion" in row}
    of_set = {id_: key(row.get("game")) for id_, row in lake.expansions.items()}
    return {id_: of_set.get(expansions.get(id_)) for id_ in lake.products}


def of_product(lake: OracleLake, id_product: int) -> str | None:
    return _keys(lake)[id_product]


@lru_cache(256)
def guide_day(lake: OracleLake, game: str | None) -> date | None:
    """The newest day with a guide row of one of the game's products; of any product for None."""
    days = [max(rows) for id_, rows in lake.guide.items() if game is None or of_product(lake, id_) == game]
    return max(days, default=None)


def listed(lake: OracleLake) -> list[Row]:
    keys = {key(row.get("game")) for row in lake.expansions.values()} - {None}
    return [_game(lake, one) for one in sorted(keys)]


def _game(lake: OracleLake, one: str) -> Row:
    spelled = [row["game"] for row in lake.expansions.values() if key(row.get("game")) == one]
    kinds = [row["kind"] for id_, row in lake.products.items() if of_product(lake, id_) == one]
    day = guide_day(lake, one)
    return {
        "name": min(set(spelled), key=lambda spelling: (-spelled.count(spelling), spelling)),
        "products": len(kinds),
        "singles": kinds.count("single"),
        "sets": len(spelled),
        "price_guide_day": day and day.isoformat(),
    }
