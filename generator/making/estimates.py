"""Estimates of rows and bytes for `build --plan`, from what was measured. No result depends on them.

They are bytes per row or product of made-up lakes of 10,000 to 78,000 products; see docs/scale.md.
"""

from datetime import date

from generator.lake.lake import PRICE_TABLES, Lake

# Bytes of a row in the lake's Parquet files.
_LAKE_ROW_BYTES = {"price_guide": 24, "listings": 15, "filtered_checks": 60}
# Bytes in intermediate files: of a row of a history, of a product's newest rows, of a Card with its keys.
HISTORY_ROW_BYTES = 12
NEWEST_ROW_BYTES = 300
CARD_ROW_BYTES = 1500
# Compressed bytes in the store: of a row of a history, of a Card in its detail, of a Card as a line, of a product in
# the files of filters and sorts.
STORED_HISTORY_ROW_BYTES = 12
STORED_CARD_BYTES = 500
STORED_LINE_BYTES = 210
STORED_COLUMNS_BYTES = 180


def rows(lake: Lake, first: date, last: date) -> int:
    """Return about how many rows the price tables hold of these days."""
    return sum(lake.size(table, first=first, last=last) // _LAKE_ROW_BYTES[table] for table in PRICE_TABLES)
