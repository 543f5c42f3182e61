"""Page format: JSON arrays with one item per line, and what stands around the arrays of a card detail.

A page is `[\\n`, its items joined by `,\\n`, then `\\n]\\n`. JSON escapes line feeds inside strings, so a raw line
feed is always a boundary: windows are cut, and the first day of a history is found, by lines alone.
"""

from collections.abc import Iterable

CARDS_PER_PAGE = 100
WATCHLIST_PER_PAGE = 500
SETS_PER_PAGE = 1000

OPEN, BETWEEN, CLOSE = b"[\n", b",\n", b"\n]\n"
# What follows the history in a card detail, and in the object of a closed period.
CARD_TAIL, PERIOD_TAIL = b"}\n", b"\n"
HISTORY_ARRAYS = ("price_guide", "filtered", "listing")
HISTORY_MARKS = (b'"price_guide":[\n', b'],"filtered":[\n', b'],"listing":[\n', b"]}")
_DAY = slice(len('{"day":"'), len('{"day":"YYYY-MM-DD'))


def join_page(items: Iterable[bytes]) -> bytes:
    """Items, each JSON on one line, as one page."""
    return OPEN + BETWEEN.join(items) + CLOSE


def split_page(page: bytes) -> list[bytes]:
    """The items of a page, each still JSON text."""
    inside = page[len(OPEN) : -len(CLOSE)]
    return inside.split(BETWEEN) if inside else []


def since(rows: bytes, day: str) -> bytes:
    """The rows of `day` (YYYY-MM-DD) and later, of rows joined by `,\n` in the order of their days."""
    wanted, low, high = day.encode(), 0, len(rows)
    while low < high:  # rows that begin before `low` are older, those from `high` on are not
        before = rows.rfind(BETWEEN, low, (low + high) // 2)
        begin = low if before < 0 else before + len(BETWEEN)
        if rows[begin + _DAY.start : begin + _DAY.stop] >= wanted:
            high = begin
        else:
            end = rows.find(BETWEEN, begin)
            low = len(rows) if end < 0 else end + len(BETWEEN)
    return rows[low:]
