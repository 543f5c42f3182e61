"""What a plan says of tasks that have not run: about how many rows, and how many bytes, by what was measured.

Bytes per row or product of made-up lakes of 10,000 to 78,000 products; see docs/scale.md. Nothing depends on them.
"""

from datetime import date

from generator.lake.lake import PRICE_TABLES, Lake

# lake, per row as Parquet
_LAKE_ROW = {"price_guide": 24, "listings": 15, "filtered_checks": 60}
# parts, per row or product
PART_ROW = 12
NEWEST_ROW = 300
CARD_ROW = 1500
RANKING_ROW = 180
# objects, compressed, per row of history, Card or Card in a page
HISTORY_ROW = 12
CARD = 500
LINE = 210
LISTED_CARD = 130


def rows(lake: Lake, first: date, last: date) -> int:
    """About how many rows the price tables hold of these days."""
    return sum(lake.size(table, first=first, last=last) // _LAKE_ROW[table] for table in PRICE_TABLES)
