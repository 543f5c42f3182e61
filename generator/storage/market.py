"""Prices over time, as layers hold them: sums and indexes of sets and games, the largest moves, and weekly prices.

The file `groups` of the layer `market` has a row per group, sets by id, then games by folded name:

    by              `set` or `game`
    id_expansion    null for a game
    game_folded     the game, null for a set without one
    place           of a game: its place in /games
    head            the beginning of its history as JSON: {"set": …, "game": …}
    line            its row of /market as JSON
    rank_…          its rank in each sort, null without the key of the sort

The file `indexes`, for gates and reports, has the index of each game on each day (`build/views/market_indexes.sql`).

The points of a history are objects: `market/{period}/sets/{id}.json` or `market/{period}/games/{game}.json`, with the
rows of a period joined by `bodies.BETWEEN`. The period is a closed year, or `open`, the month of the as-of day.

The layer `movers` has the largest price moves of a build. Its Arrow files:

    lines   a row per product and window that any list shows: line (a Mover as JSON)
    lists   a row per list that has Movers, sorted by the first two columns: confirmed (whether it has confirmed moves
            only), key, lines (rows in `lines`, in the order of the list)

Beside them is `week`, a JSON file for the page `/explore`: {"steps": [integer], "changes": [number]}. It has the change
of each product over 7 days in percent, in the order of the ids. A step is by how much an id is above the one before.

The key of a list of Movers is `{window}/{by}/{direction}/{kind}/{floor}`, followed by `/` and the folded name of a game
in a list of one game. The floor is the lowest price that `then` may have.

A week begins on Monday. A closed year has the weeks that end in it, before the month of the as-of day. The open month
has all later weeks, up to that of the as-of day. So each night makes the weeks of the open month only. The layers
`series-<period>` have the file:

    prices   a row per product with a price in these weeks, by id: id_product, trend (a JSON number or null for each
             week, joined by commas)

A series begins within its oldest year, whose weeks before that are cut off.

The layers `extremes-<period>` have a file of their own. That of the open month speaks for all days up to the as-of day,
that of a closed year for its own:

    extremes   a row per product with a market price, by id: id_product, low and high (in cents), low_day and high_day
               (the newest days that have them)
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import groupby, product
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from generator.storage import layout
from generator.storage.layers import Layer, only_chunk, text_column

GROUPS, INDEXES = "groups", "indexes"  # files of the layer `market`
# The parameters of /market: its groupings, and its sorts with their default orders.
GROUPINGS = ("set", "game")
SORTS = {"value": "desc", "change_7d": "desc", "change_30d": "desc", "name": "asc"}
LINES, LISTS, WEEK = "lines", "lists", "week"  # files of the layer `movers`
MAX_MOVERS = 500  # in a list
# The parameters of /movers: the number of days of a window, and floors in euros.
WINDOWS = {"1d": 1, "7d": 7, "30d": 30}
MEASURES = ("percent", "euros")
DIRECTIONS = ("up", "down")
FLOORS = ("0", "1", "5", "20", "100")
PRICES, EXTREMES = "prices", "extremes"  # files of the layers `series-…` and `extremes-…`
WEEKS = 53  # of a series
_ONE_WEEK, TO_SUNDAY = timedelta(weeks=1), timedelta(days=6)
_BETWEEN, _NO_PRICE = b",", b"null"
_NO_PRICES = pa.table({"id_product": pa.array([], pa.int64()), "trend": pa.array([], pa.string())})
_EXTREMES_FORM = ',"low":{{"day":"{}","price":{!r}}},"high":{{"day":"{}","price":{!r}}}'
_EXTREMES_COLUMNS = ("low_day", "low", "high_day", "high")
_NO_EXTREMES = b',"low":null,"high":null'


class Group(NamedTuple):
    game: str | None  # folded
    line: bytes  # its row of /market as JSON
    head: bytes  # the beginning of its history as JSON
    path: str  # the end of the keys of its points


class Market:
    """The groups of a build's market.

    Attributes:
        sets, games, documents: By the id of the expansion, by the folded name, by the logical keys of their histories.
        lists: By grouping and sort: the groups with the key of the sort in its default order, and those without it.
    """

    def __init__(self, layer: Layer):
        self.sets: dict[int, Group] = {}
        self.games: dict[str, Group] = {}
        self.documents: dict[str, Group] = {}
        found: list[tuple[dict[str, Any], Group]] = []
        for row in layer.table(GROUPS).to_pylist():
            id_, game = row["id_expansion"], row["game_folded"]
            group = Group(game, row["line"].encode(), row["head"].encode(), layout.market_group(id_, game))
            found.append((row, group))
            if row["by"] == "set":
                self.sets[id_] = self.documents[f"market/sets/{id_}.json"] = group
            else:
                self.games[game] = self.documents[f"market/games/{row['place']}.json"] = group
        self.lists = {(by, sort): _ranked(found, by, sort) for by, sort in product(GROUPINGS, SORTS)}

    def rows(self, by: str, sort: str, order: str | None = None, game: str | None = None) -> list[bytes]:
        """Return the rows of a list as JSON, those without the key last. The game is a folded name."""
        with_key, without_key = self.lists[by, sort]
        if order not in (None, SORTS[sort]):
            with_key = with_key[::-1]
        return [group.line for group in (*with_key, *without_key) if game is None or group.game == game]


def _ranked(rows: Sequence[tuple[dict[str, Any], Group]], by: str, sort: str) -> tuple[list[Group], list[Group]]:
    """Return the groups with the key of a sort in its default order, and those without it in the order of ties."""
    found = [(row[f"rank_{sort}"], group) for row, group in rows if row["by"] == by]
    with_key = sorted(((rank, group) for rank, group in found if rank is not None), key=itemgetter(0))
    return [group for _, group in with_key], [group for rank, group in found if rank is None]


class Movers:
    """The lists of price moves of a build, mapped into memory."""

    def __init__(self, layer: Layer):
        lines, lists = layer.table(LINES), layer.table(LISTS)
        self._lines = only_chunk(lines, "line").cast(pa.binary())
        self._rows = only_chunk(lists, "lines")
        keys = zip(lists["confirmed"].to_pylist(), lists["key"].to_pylist(), strict=True)
        self._places = {key: place for place, key in enumerate(keys)}

    def list(self, key: str, confirmed: bool = False) -> list[bytes]:
        """Return the Movers of a list as JSON, largest move first. A list that is not stored has none."""
        place = self._places.get((confirmed, key))
        return [] if place is None else self._lines.take(self._rows[place].values).to_pylist()

    def count(self, key: str, confirmed: bool = False) -> int:
        place = self._places.get((confirmed, key))
        return 0 if place is None else len(self._rows[place])


def list_key(options: Iterable[str], game: str | None = None) -> str:
    """Return the key of a list of Movers: window, measure, direction, kind and floor; the game is a folded name."""
    return "/".join((*options, *([] if game is None else [game])))


def weeks_until(as_of: date) -> list[date]:
    """Return the Mondays of the weeks of a series, oldest first."""
    last = as_of - timedelta(as_of.weekday())
    return [last - _ONE_WEEK * ago for ago in reversed(range(WEEKS))]


def weeks_by_period(as_of: date) -> dict[str, list[date]]:
    """Return the Mondays of all weeks of each period of a series, oldest first, by the name of the period."""
    weeks = weeks_until(as_of)
    of_year = (weeks[0] + TO_SUNDAY).timetuple().tm_yday
    before = [weeks[0] - _ONE_WEEK * ago for ago in range((of_year - 1) // _ONE_WEEK.days, 0, -1)]
    open_from = as_of.replace(day=1) - TO_SUNDAY

    def period(week: date) -> str:
        return layout.OPEN_MONTH if week >= open_from else f"{(week + TO_SUNDAY).year:04d}"

    return {name: list(found) for name, found in groupby([*before, *weeks], period)}


class Series:
    """The weekly prices of a build, mapped into memory.

    A closed year without prices has no layer. `weeks` are the Mondays, oldest first, as JSON.
    """

    def __init__(self, layers: Mapping[str, Layer], extremes: Layer, as_of: date, ids: np.ndarray):
        shown = weeks_until(as_of)
        self.weeks = json.dumps(list(map(date.isoformat, shown)), separators=(",", ":")).encode()
        self._periods = [
            _Period(layers.get(name), sum(week < shown[0] for week in weeks), len(weeks), ids)
            for name, weeks in weeks_by_period(as_of).items()
        ]
        table = extremes.table(EXTREMES)
        self._extremes = [only_chunk(table, name).to_numpy(zero_copy_only=False) for name in _EXTREMES_COLUMNS]
        self._rows_of_extremes = _places(only_chunk(table, "id_product").to_numpy(), ids)

    def prices(self, ordinals: np.ndarray) -> list[bytes]:
        """Return the prices of some products as JSON: for each week a number or null, joined by commas."""
        return list(map(_BETWEEN.join, zip(*(period.prices(ordinals) for period in self._periods), strict=True)))

    def extremes(self, ordinals: np.ndarray) -> list[bytes]:
        """Return the members `low` and `high` of some products as JSON, with a comma before."""
        rows = self._rows_of_extremes.take(ordinals).tolist()
        return [_NO_EXTREMES if row < 0 else self._extremes_of(row) for row in rows]

    def _extremes_of(self, row: int) -> bytes:
        low_day, low, high_day, high = (column[row] for column in self._extremes)
        return _EXTREMES_FORM.format(low_day, float(low) / 100, high_day, float(high) / 100).encode()


class _Period:
    """The weekly prices of a period; `first` is the first of its `weeks` that belongs to the series."""

    def __init__(self, layer: Layer | None, first: int, weeks: int, ids: np.ndarray):
        self._first = first
        self._without = _BETWEEN.join([_NO_PRICE] * (weeks - first))
        table = layer.table(PRICES) if layer else _NO_PRICES
        text, self._starts = text_column(table, "trend")
        self._text = text.data
        # Searched once for all products: in a request, the search would take as long as the rest.
        self._rows = _places(only_chunk(table, "id_product").to_numpy(), ids)

    def prices(self, ordinals: np.ndarray) -> list[bytes]:
        rows, text, first, without = self._rows.take(ordinals), self._text, self._first, self._without
        # The row -1 of a product without prices is an empty range, which ends at 0.
        starts, ends = self._starts.take(rows).tolist(), self._starts.take(rows + 1).tolist()
        ranges = zip(starts, ends, strict=True)
        return [bytes(text[start:end]).split(_BETWEEN, first)[-1] if end else without for start, end in ranges]


def _places(sorted_ids: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the place of each of some ids among sorted ids, -1 if it is not there."""
    if not len(sorted_ids):
        return np.full(len(ids), -1, np.int32)
    places = np.minimum(np.searchsorted(sorted_ids, ids), len(sorted_ids) - 1)
    return np.where(sorted_ids[places] == ids, places, -1).astype(np.int32)
