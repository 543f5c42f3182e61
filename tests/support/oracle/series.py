"""Series: the trend of products in the 53 weeks that end with the week of the as-of day."""

from datetime import date, timedelta

from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.rounding import number


def listed(lake: OracleLake, ids: list[int]) -> Row:
    different = list(dict.fromkeys(ids))
    weeks = sorted({_monday(lake.as_of) - timedelta(days=7 * ago) for ago in range(53)})
    return {
        "weeks": [week.isoformat() for week in weeks],
        "data": [
            {"id_product": id_, "trend": [_trend(lake, id_, week) for week in weeks]}
            for id_ in different
            if id_ in lake.products
        ],
        "not_found": [id_ for id_ in different if id_ not in lake.products],
    }


def _trend(lake: OracleLake, id_product: int, week: date) -> float | None:
    """The trend on the newest day of the week on which the product has one."""
    rows = lake.guide.get(id_product, {})
    trends = {day: row["trend"] for day, row in rows.items() if _monday(day) == week and row["trend"] is not None}
    return number(trends[max(trends)]) if trends else None


def _monday(day: date) -> date:
    while day.isoweekday() != 1:
        day -= timedelta(days=1)
    return day
