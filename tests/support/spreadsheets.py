"""The rows of `prices.csv` by the oracle, as a reader of CSV finds them."""

from tests.support.oracle import bulk
from tests.support.oracle.lake import OracleLake

TEXTS = ("name", "game", "kind", "set", "number", "rarity", "finish", "url")


def csv_rows(lake: OracleLake) -> list[list[str]]:
    """The header and all rows. A text that a spreadsheet takes for a formula has an apostrophe before it."""
    found = [[_cell(name, row[name]) for name in bulk.PRICES] for row in bulk.prices(lake)]
    return [bulk.PRICES, *found]


def _cell(name: str, value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if name in TEXTS and text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
