"""Series format: the weekly prices of the products, as an Arrow file in each layer `series-<period>`.

A week begins on Monday. A closed year has the weeks that end in it, before the month of the as-of day. The open month
has all later weeks, up to that of the as-of day. So each night makes the weeks of the open month only. The file:

    prices   a row per product with a price in these weeks, by id: id_product, trend (a JSON number or null for each
             week, joined by commas)

A series begins within its oldest year, whose weeks before that are cut off.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from itertools import groupby

import numpy as np
import pyarrow as pa

from edge_auth.contract import layer_names
from edge_auth.contract.index import map_table, only_chunk
from edge_auth.contract.layers import Layer
from edge_auth.contract.sorted_texts import text_column
from edge_auth.errors import StoreError

PRICES = "prices"
WEEKS = 53
WEEK, TO_SUNDAY = timedelta(weeks=1), timedelta(days=6)
_BETWEEN, _NO_PRICE = b",", b"null"


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
        return layer_names.OPEN_MONTH if week >= open_from else f"{(week + TO_SUNDAY).year:04d}"

    return {name: list(found) for name, found in groupby([*before, *weeks], period)}


class Series:
    """The weekly prices of a build, mapped into memory.

    Args:
        layers: The layers by period. A closed year without prices has none.
        as_of: The as-of day of the build.

    Attributes:
        weeks: The Mondays of the weeks, oldest first.

    Raises:
        StoreError: The files cannot be read.
    """

    def __init__(self, layers: Mapping[str, Layer], as_of: date):
        self.weeks = weeks_until(as_of)
        self._periods = [
            _Period(layers.get(name), sum(week < self.weeks[0] for week in weeks), len(weeks))
            for name, weeks in weeks_by_period(as_of).items()
        ]

    def prices(self, ids: Sequence[int]) -> list[bytes]:
        """Return the prices of some products as JSON: for each week a number or null, joined by commas."""
        wanted = np.array(ids, np.int64)
        return list(map(_BETWEEN.join, zip(*(period.prices(wanted) for period in self._periods), strict=True)))


class _Period:
    """The weekly prices of a period.

    Args:
        layer: None for a year without prices.
        first: The first of its weeks that belongs to the series.
        weeks: The number of its weeks.
    """

    def __init__(self, layer: Layer | None, first: int, weeks: int):
        self._first, self._shown = first, weeks - first
        self._without = _BETWEEN.join([_NO_PRICE] * self._shown)
        self._ids, self._starts, self._text = _read(layer)

    def prices(self, ids: np.ndarray) -> Sequence[bytes | memoryview]:
        """Return the prices of some products in the weeks that belong to the series."""
        if not len(self._ids):
            return [self._without] * len(ids)
        rows = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        known = (self._ids.take(rows) == ids).tolist()
        starts, ends = self._starts.take(rows).tolist(), self._starts.take(rows + 1).tolist()
        text, show = self._text, self._last_weeks if self._first else memoryview
        return [
            show(text[start:end]) if is_known else self._without
            for is_known, start, end in zip(known, starts, ends, strict=True)
        ]

    def _last_weeks(self, prices: memoryview) -> bytes:
        if self._first < self._shown:
            return bytes(prices).split(_BETWEEN, self._first)[-1]
        return _BETWEEN.join(bytes(prices).rsplit(_BETWEEN, self._shown)[1:])


def _read(layer: Layer | None) -> tuple[np.ndarray, np.ndarray, memoryview]:
    """Return the ids, where the prices of each begin, with the end of the last, and the text of all prices."""
    if layer is None:
        return np.empty(0, np.int64), np.zeros(1, np.int32), memoryview(b"")
    try:
        table = map_table(layer.file(PRICES))
    except (OSError, pa.ArrowInvalid) as error:
        raise StoreError(f"the weekly prices in {layer.folder} cannot be read: {error}") from error
    text, starts = text_column(only_chunk(table, "trend"))
    return only_chunk(table, "id_product").to_numpy(), starts, text.data
