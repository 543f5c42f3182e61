"""Games: the games of the expansions, and which product belongs to which."""

from datetime import date

from tests.support.oracle.lake import Lake, Row
from tests.support.oracle.text import fold


def key(game: str | None) -> str | None:
    """What tells games apart; None for no game."""
    return fold(game or "") or None


def of_product(lake: Lake, id_product: int) -> str | None:
    """The key of the game of a product's expansion."""
    return key(lake.expansions.get(lake.products[id_product].get("id_expansion"), {}).get("game"))


def guide_day(lake: Lake, game: str | None) -> date | None:
    """The newest day with a guide row of one of the game's products; of any product for None."""
    days = [max(rows) for id_, rows in lake.guide.items() if game is None or of_product(lake, id_) == game]
    return max(days, default=None)


def listed(lake: Lake) -> list[Row]:
    keys = {key(row.get("game")) for row in lake.expansions.values()} - {None}
    return [_game(lake, one) for one in sorted(keys)]


def _game(lake: Lake, one: str) -> Row:
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
