"""What a collection is worth: the sums that a client makes of /cards and /series."""

from collections.abc import Mapping

from tests.support.oracle import series
from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.rounding import number


def worth(lake: OracleLake, quantity: Mapping[int, int]) -> Row:
    """The values of a collection: `trend` and `low` now, and `weeks` by Monday.

    `quantity`: by id. Unknown products are worth nothing. A week without a price keeps the last one.
    """
    now = {id_: rows[max(rows)] for id_, rows in lake.guide.items()}
    values = {
        price: sum((now[id_][price] or 0) * count for id_, count in quantity.items() if id_ in now)
        for price in ("trend", "low")
    }
    listed = series.listed(lake, list(quantity))
    weeks = dict.fromkeys(listed["weeks"], 0.0)
    for product in listed["data"]:
        last = 0.0
        for week, price in zip(weeks, product["trend"], strict=True):
            last = last if price is None else price
            weeks[week] += last * quantity[product["id_product"]]
    return {price: number(value) for price, value in values.items()} | {"weeks": weeks}
