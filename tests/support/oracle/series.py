"""Series: the market price of products in the 53 weeks that end with the week of the as-of day, and of all days."""

from datetime import date, timedelta
from decimal import Decimal

from tests.support.oracle import market_price
from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.rounding import number


def listed(lake: OracleLake, ids: list[int]) -> Row:
    different = list(dict.fromkeys(ids))
    weeks = sorted({_monday(lake.as_of) - timedelta(days=7 * ago) for ago in range(53)})
    return {
        "weeks": [week.isoformat() for week in weeks],
        "data": [
            {"id_product": id_, "trend": [_price(lake, id_, week) for week in weeks]} | _extremes(lake, id_)
            for id_ in different
            if id_ in lake.products
        ],
        "not_found": [id_ for id_ in different if id_ not in lake.products],
    }


def _price(lake: OracleLake, id_product: int, week: date) -> float | None:
    """The market price on the newest day of the week on which the product has one."""
    of_week = {day: price for day, price in prices(lake, id_product).items() if _monday(day) == week}
    return number(of_week[max(of_week)]) if of_week else None


def _extremes(lake: OracleLake, id_product: int) -> Row:
    """The lowest and the highest market price, with the newest day of each."""
    by_day, found = prices(lake, id_product), {}
    for name, extreme in (("low", min), ("high", max)):
        price = extreme(by_day.values(), default=None)
        day = max((day for day, of_day in by_day.items() if of_day == price), default=None)
        found[name] = {"day": day.isoformat(), "price": number(price)} if day else None
    return found


def prices(lake: OracleLake, id_product: int) -> dict[date, Decimal]:
    found = {day: market_price.of_row(row) for day, row in lake.guide.get(id_product, {}).items()}
    return {day: priced[0] for day, priced in found.items() if priced}


def _monday(day: date) -> date:
    while day.isoweekday() != 1:
        day -= timedelta(days=1)
    return day
