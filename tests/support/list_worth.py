"""What a collection is worth, from the oracle's Cards and their histories. Amounts are in cents."""

from collections.abc import Iterable
from datetime import date, timedelta
from itertools import accumulate
from typing import Any

from tests.support.list_files import Owned
from tests.support.oracle import Oracle
from tests.support.value_lake import AS_OF, SHINY

MONDAY = AS_OF - timedelta(days=AS_OF.weekday())
WEEKS = [MONDAY - timedelta(weeks=52 - week) for week in range(53)]


class Worth:
    def __init__(self, oracle: Oracle):
        self._oracle = oracle

    def card(self, id_product: int) -> dict[str, Any]:
        status, card = self._oracle.ask(f"/api/v1/cards/{id_product}")
        assert status == 200
        return card

    def price(self, owned: Owned, price: str = "market") -> int | None:
        card = self.card(owned.id)
        if price == "lowest in Europe":
            value = card["price_guide"] and card["price_guide"]["low"]
        elif price == "low":
            value = (card["filtered_price"] or {"lowest": None})["lowest"]
        else:
            guide = card["price_guide"] or {"trend": None, "holo": {"trend": None}}
            value = (owned.foil and guide["holo"]["trend"]) or guide["trend"] or guide["holo"]["trend"]
        return round(value * 100) if value else None

    def total(self, lines: Iterable[Owned], price: str = "market") -> int:
        return sum((self.price(owned, price) or 0) * owned.quantity for owned in lines)

    def own(self, id_product: int) -> list[int | None]:
        newest: list[int | None] = [None] * 53
        for row in self.card(id_product)["history"]["price_guide"]:
            week = (date.fromisoformat(row["day"]) - WEEKS[0]).days // 7
            if week >= 0 and row["trend"] is not None:
                newest[week] = round(row["trend"] * 100)
        return newest

    def weekly(self, id_product: int) -> list[int | None]:
        """The price of each week, or the last one before it."""
        return list(accumulate(self.own(id_product), lambda last, price: last if price is None else price))

    def moved(self, lines: Iterable[Owned], week: int) -> tuple[int, int]:
        """What the lines that had a price in a week were worth then, and now."""
        known = [(owned.quantity, self.weekly(owned.id)) for owned in lines if not (owned.foil and owned.id == SHINY)]
        then, now = (
            sum(quantity * (prices[at] or 0) for quantity, prices in known if prices[week] is not None)
            for at in (week, 52)
        )
        return then, now


def euros(cents: int) -> str:
    return f"€{cents / 100:,.2f}"
