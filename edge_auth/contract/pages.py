"""Page format: JSON arrays with one item per line, and card details whose arrays join without parsing.

A page is `[\\n`, its items joined by `,\\n`, then `\\n]\\n`. JSON escapes line feeds inside strings, so a raw line
feed is always a boundary: windows are cut, and the periods of a history are joined, by lines alone.
"""

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Sequence

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


def join_history(arrays: Sequence[bytes]) -> bytes:
    """The object of three arrays; each given as rows joined by `,\\n`, or empty."""
    parts = [b"{"]
    for mark, rows in zip(HISTORY_MARKS, arrays, strict=False):
        parts += [mark, rows, b"\n"] if rows else [mark]
    return b"".join([*parts, HISTORY_MARKS[-1]])


def split_history(text: bytes) -> tuple[bytes, list[bytes]]:
    """What stands before the history object in `text`, and the rows of its three arrays.

    Raises:
        ValueError: `text` holds no history object.
    """
    start = text.index(b"{" + HISTORY_MARKS[0])
    arrays, position = [], start + 1
    for mark, following in itertools.pairwise(HISTORY_MARKS):
        position += len(mark)
        # A closing mark stands at the beginning of a line; rows begin with a brace and cannot be mistaken for it.
        end = position if text.startswith(following, position) else text.index(b"\n" + following, position)
        arrays.append(text[position:end])
        position = end if end == position else end + 1
    return text[:start], arrays


def since(rows: bytes, day: str) -> bytes:
    """The rows of `day` (YYYY-MM-DD) and later, of rows joined by `,\n` in the order of their days."""
    if not rows or rows[_DAY] >= day.encode():
        return rows
    exact = rows.find(b'{"day":"%b"' % day.encode())
    if exact >= 0:
        return rows[exact:]
    lines = rows.split(BETWEEN)
    return BETWEEN.join(lines[bisect_left(lines, day.encode(), key=lambda line: line[_DAY]) :])


def card_detail(card: bytes, periods: Sequence[bytes], day: str | None = None) -> bytes:
    """A Card with its history: the open month's object, preceded by the closed periods', oldest first.

    Args:
        card: the object `cards/{id}.json` as stored: the Card with the open month.
        periods: the objects `history/{period}/{id}.json` that exist for it, oldest first.
        day: the first day to show, or None for all.
    """
    head, newest = split_history(card)
    segments = [split_history(period)[1] for period in periods] + [newest]
    arrays = []
    for index in range(len(HISTORY_ARRAYS)):
        rows = [segment[index] for segment in segments]
        arrays.append(BETWEEN.join(filter(None, (since(part, day) for part in rows) if day else rows)))
    return head + join_history(arrays) + CARD_TAIL
