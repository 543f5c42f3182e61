"""Page format: JSON arrays with one item per line, and the text around the history arrays of a card detail.

A page is `[\\n`, its items joined by `,\\n`, then `\\n]\\n`. JSON escapes line feeds inside strings, so a raw line
feed always separates items. A reader can cut lists and histories by lines, without parsing JSON.
"""

from collections.abc import Iterable

CARDS_PER_PAGE = 100
MARKET_ROWS_PER_PAGE = 100

OPEN = b"[\n"
BETWEEN = b",\n"
CLOSE = b"\n]\n"
# The text after the history in a card detail, and in the object of a period.
CARD_TAIL, PERIOD_TAIL = b"}\n", b"\n"
HISTORY_ARRAYS = ("price_guide", "filtered", "listing")
# The text before the rows of each history array, and after the last one.
HISTORY_MARKS = (b'"price_guide":[\n', b'],"filtered":[\n', b'],"listing":[\n', b"]}")
_DAY = slice(len('{"day":"'), len('{"day":"YYYY-MM-DD'))


def join_page(items: Iterable[bytes]) -> bytes:
    """Return a page of items, each JSON on one line."""
    return OPEN + BETWEEN.join(items) + CLOSE


def split_page(page: bytes) -> list[bytes]:
    """Return the items of a page as JSON text."""
    inside = page[len(OPEN) : -len(CLOSE)]
    return inside.split(BETWEEN) if inside else []


def rows_since(rows: bytes, day: str) -> bytes:
    """Return the history rows of `day` (YYYY-MM-DD) and later.

    Args:
        rows: Rows in the order of their days, joined by `,\\n`.
    """
    first_day, low, high = day.encode(), 0, len(rows)
    while low < high:  # rows that begin before `low` are older, rows that begin at `high` or later are not
        separator = rows.rfind(BETWEEN, low, (low + high) // 2)
        start = low if separator < 0 else separator + len(BETWEEN)
        if rows[start + _DAY.start : start + _DAY.stop] >= first_day:
            high = start
        else:
            end = rows.find(BETWEEN, start)
            low = len(rows) if end < 0 else end + len(BETWEEN)
    return rows[low:]
