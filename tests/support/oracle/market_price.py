"""The market price of a product on a day: its trend, else the trend of its foils."""

from decimal import Decimal

from tests.support.oracle.lake import OracleLake, Row


def of_row(row: Row) -> tuple[Decimal, str] | None:
    """Return the price and the finish that a row of the price guide has; None where both trends are unknown or 0."""
    for column, finish in (("trend", "normal"), ("trend_holo", "foil")):
        if row[column] is not None and row[column] > 0:
            return row[column], finish
    return None


def newest(lake: OracleLake, id_product: int) -> Decimal | None:
    rows = lake.guide.get(id_product)
    found = rows and of_row(rows[max(rows)])
    return found[0] if found else None
