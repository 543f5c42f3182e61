"""The indexes of the games, for the page at /: the newest value of each, and a line of its last days."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple
from urllib.parse import quote

from edge_auth.api.endpoints import API

DAYS = 90
_MOST_GAMES = 8
_LEFT, _TOP, _WIDTH, _HEIGHT = 3, 3, 114, 22  # of the line, in the units of its drawing


class GameIndex(NamedTuple):
    """The index of a game.

    Attributes:
        newest: The index on its newest day.
        change_7d_pct: In percent, or None.
        then: The day that this change is against, or None.
        first: The index on the first day of the line.
        points: The line, as `points` of a polyline in a drawing of 120 × 28.
    """

    name: str
    newest: float
    change_7d_pct: float | None
    then: str | None
    first: float
    points: str


def game_indexes(answer: Callable[[str], Any]) -> list[GameIndex]:
    """Return the indexes of the games of most value, without those whose prices have stopped.

    Args:
        answer: Returns the answer to a path of the API, or None.
    """
    rows = (answer(f"{API}market?by=game&limit={_MOST_GAMES}") or {"data": []})["data"]
    return [index for row in rows if (index := _game_index(row, answer))]


def _game_index(row: dict[str, Any], answer: Callable[[str], Any]) -> GameIndex | None:
    history = answer(f"{API}market/history?game={quote(row['game'], safe='')}&days={DAYS}")
    if not history or not history["points"]:  # a name too long for a request, or only older prices
        return None
    indexes = [point["index"] for point in history["points"]]
    then = None if row["change_7d_pct"] is None else _week_before(row["day"], history["points"])
    return GameIndex(row["game"], row["index"], row["change_7d_pct"], then, indexes[0], _points(indexes))


def _week_before(newest: str, points: Sequence[dict[str, Any]]) -> str | None:
    """Return the day that `change_7d_pct` is against, the newest one at least a week before, or None."""
    latest = (date.fromisoformat(newest) - timedelta(days=7)).isoformat()
    return max((str(point["day"]) for point in points if point["day"] <= latest), default=None)


def _points(values: Sequence[float]) -> str:
    low, span = min(values), max(values) - min(values) or 1
    step = _WIDTH / max(len(values) - 1, 1)
    places = ((_LEFT + at * step, _TOP + _HEIGHT * (1 - (value - low) / span)) for at, value in enumerate(values))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
