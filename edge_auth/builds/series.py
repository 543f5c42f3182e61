"""Series format: the weekly prices of the products, as an Arrow file in each layer `series-<period>`.

A week begins on Monday. A closed year has the weeks that end in it, before the month of the as-of day. The open month
has all later weeks, up to that of the as-of day. So each night makes the weeks of the open month only. The file:

    prices   a row per product with a price in these weeks, by id: id_product, trend (a JSON number or null for each
             week, joined by commas)

A series begins within its oldest year, whose weeks before that are cut off.

The layers `extremes-<period>` have a file of their own. That of the open month speaks for all days up to the as-of day,
that of a closed year for its own:

    extremes   a row per product with a market price, by id: id_product, low and high (in cents), low_day and high_day
               (the newest days that have them)
"""

import json
from collections.abc import Mapping
from datetime import date, timedelta
from itertools import groupby

import numpy as np

from edge_auth.builds import layout
from edge_auth.builds.index import only_chunk, text_column
from edge_auth.builds.layers import Layer

PRICES, EXTREMES = "prices", "extremes"
WEEKS = 53
WEEK, TO_SUNDAY = timedelta(weeks=1), timedelta(days=6)
_BETWEEN, _NO_PRICE = b",", b"null"
_EXTREMES_FORM = ',"low":{{"day":"{}","price":{!r}}},"high":{{"day":"{}","price":{!r}}}'
_EXTREMES_COLUMNS = ("low_day", "low", "high_day", "high")
_NO_EXTREMES = b',"low":null,"high":null'


def weeks_until(as_of: date) -> list[date]:
    """Return the Mondays of the weeks of a series, oldest first."""
    last = as_of - timedelta(as_of.weekday())
    return [last - WEEK * ago for ago in reversed(range(WEEKS))]


def weeks_by_period(as_of: date) -> dict[str, list[date]]:
    """Return the Mondays of all weeks of each period of a series, oldest first, by the name of the period."""
    weeks = weeks_until(as_of)
    of_year = (weeks[0] + TO_SUNDAY).timetuple().tm_yday
    before = [weeks[0] - WEEK * ago for ago in range((of_year - 1) // WEEK.days, 0, -1)]
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
        self._first, self._shown = first, weeks - first
        self._without = _BETWEEN.join([_NO_PRICE] * self._shown)
        own_ids, self._starts, self._text = _read(layer)
        # Searched once for all products: in a request, the search would take as long as the rest.
        self._rows = _places(own_ids, ids)

    def prices(self, ordinals: np.ndarray) -> list[bytes | memoryview]:
        rows, text, without = self._rows.take(ordinals), self._text, self._without
        # The row -1 of a product without prices is an empty range, which ends at 0.
        starts, ends = self._starts.take(rows).tolist(), self._starts.take(rows + 1).tolist()
        ranges = zip(starts, ends, strict=True)
        if not self._first:
            return [text[start:end] or without for start, end in ranges]
        return [self._last_weeks(text[start:end]) if end else without for start, end in ranges]

    def _last_weeks(self, prices: memoryview) -> bytes | memoryview:
        """Return the prices of the weeks that belong to the series, of those of all weeks."""
        if self._first < self._shown:
            return bytes(prices).split(_BETWEEN, self._first)[-1]
        before = bytes(prices).rsplit(_BETWEEN, self._shown)[0]
        return prices[len(before) + len(_BETWEEN) :]


def _places(sorted_ids: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the place of each of some ids among sorted ids, -1 if it is not there."""
    if not len(sorted_ids):
        return np.full(len(ids), -1, np.int32)
    places = np.minimum(np.searchsorted(sorted_ids, ids), len(sorted_ids) - 1)
    return np.where(sorted_ids[places] == ids, places, -1).astype(np.int32)


def _read(layer: Layer | None) -> tuple[np.ndarray, np.ndarray, memoryview]:
    """Return the ids, where the prices of each begin, with the end of the last, and the text of all prices."""
    if layer is None or not len(table := layer.table(PRICES)):
        return np.empty(0, np.int64), np.zeros(1, np.int32), memoryview(b"")
    text, starts = text_column(table, "trend")
    return only_chunk(table, "id_product").to_numpy(), starts, text.data
