"""What several layers have in common: their SQL, their content, and the form of pages and of Parquet files."""

from collections.abc import Callable, Iterable

import pyarrow as pa
import pyarrow.parquet

from edge_auth.builds import pages
from generator.lake.file_keys import PRICE_TABLES
from generator.lake.lake import Lake
from generator.making.lake_tables import PRICE_SQL

# The SQL and the format of histories, for the layers of closed periods and of card details.
HISTORY_SQL = (*PRICE_SQL, "views/month_rows", "views/month_newest", "views/period", "views/history")
HISTORY_CONSTANTS = (pages.BETWEEN, pages.HISTORY_MARKS, pages.PERIOD_TAIL)
# The SQL of Cards, for the catalogue and the card details.
CARD_SQL = ("sources/products", "sources/expansions", *HISTORY_SQL, "views/newest", "views/market_price", "views/cards")


def card_content(lake: Lake) -> dict[str, list[str]]:
    """Return the content that a layer with Cards reads: the catalogue, and all price tables for their newest rows."""
    return {"catalogue": lake.content("products", "expansions"), "prices": lake.content(*PRICE_TABLES)}


def paged(items: Iterable[str], per_page: int, key: Callable[[int], str]) -> list[tuple[str, bytes]]:
    """Return items, each JSON text, as pages with their keys. No items give one empty page."""
    lines = [item.encode() for item in items]
    starts = range(0, max(len(lines), 1), per_page)
    return [(key(start // per_page), pages.join_page(lines[start : start + per_page])) for start in starts]


def to_parquet(rows: pa.Table, rows_per_group: int | None = None) -> bytes:
    """Return rows as a Parquet file, in row groups that are small enough to read ranges of it."""
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(rows, sink, compression="zstd", row_group_size=rows_per_group)
    data: bytes = sink.getvalue().to_pybytes()
    return data
