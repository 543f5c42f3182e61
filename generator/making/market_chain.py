"""The sums and the index of each group of the market, day by day, from rows of the price guide.

Prices are whole cents here, and their sums are exact. The index of a day is that of the group's day before it, times
what the singles with a price on both days cost now, divided by what they cost then.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from generator.errors import LakeError
from generator.making.market_groups import MarketGroups

GUIDE_COLUMNS = ["id_product", "day", "trend", "low"]
MARKET_DAYS = pa.schema(
    [
        ("id_expansion", pa.int64()),
        ("game_folded", pa.string()),
        ("day", pa.date32()),
        ("value", pa.float64()),
        ("priced", pa.int64()),
        ("value_low", pa.float64()),
        ("priced_low", pa.int64()),
        ("index", pa.float64()),
    ]
)
FIRST_INDEX = 100.0
_ROWS_AT_ONCE = 5_000_000
_NO_DAY, _NO_PRICE = -(2**31), -(2**31) + 1  # the last days of a group and of a product that have none
_PART_BITS = 26  # of prices: doubles add parts of so many bits exactly, up to 2^27 of them
_TOO_HIGH = 2.0**37  # a sum of high parts that does not fit into 64 bits
_EXACT = 2**53  # doubles have all integers up to here

_Integers = NDArray[np.int64]
_Flags = NDArray[np.bool_]


class Prices(NamedTuple):
    """Prices of singles, by product and day.

    Attributes:
        product: The place of the product among the singles.
        day: The day as a number.
        column: The place of the day among the days of the block.
        cents: The price.
    """

    product: _Integers
    day: _Integers
    column: _Integers
    cents: _Integers


class MarketChain:
    """The chain of the indexes. Rows of later and later days are added to it.

    Args:
        groups: The groups of the catalogue.
        last_groups: The group, last day and index of each group so far: id_expansion, game_folded, day, index.
        last_prices: The prices on these days: id_product, day, cents.
    """

    def __init__(self, groups: MarketGroups, last_groups: pa.Table | None = None, last_prices: pa.Table | None = None):
        self._groups = groups
        self._index = np.full(len(groups), FIRST_INDEX)
        self._last_day = np.full(len(groups), _NO_DAY, np.int64)
        self._price_day = np.full(len(groups.ids), _NO_PRICE, np.int64)
        self._cents = np.zeros(len(groups.ids), np.int64)
        if last_groups is not None and last_prices is not None:
            numbers = groups.numbers(last_groups)
            self._index[numbers] = last_groups["index"].to_numpy()
            self._last_day[numbers] = _day_numbers(last_groups)
            places = np.searchsorted(groups.ids, last_prices["id_product"].to_numpy())
            self._price_day[places] = _day_numbers(last_prices)
            self._cents[places] = last_prices["cents"].to_numpy()

    def add(self, rows: pa.Table) -> pa.Table:
        """Add the rows of later days.

        Args:
            rows: Of the price guide, with rounded prices, sorted by product and day.

        Returns:
            A row per group and day with a trend: id_expansion, game_folded, day, value, priced, value_low, priced_low,
            index. The values are in euros, the index is not rounded.

        Raises:
            LakeError: A sum of prices is too large.
        """
        blocks = [self._add_block(days, block) for days, block in _blocks(rows)]
        return pa.concat_tables([MARKET_DAYS.empty_table(), *blocks])

    def last(self) -> tuple[pa.Table, pa.Table]:
        """Return the last day and index of each group, and the prices on these days, as another chain takes them."""
        groups, numbers = self._groups, np.flatnonzero(self._last_day != _NO_DAY)
        index = {"day": _days(self._last_day[numbers]), "index": pa.array(self._index[numbers])}
        needed = self._price_day == self._last_day[groups.of_set]
        needed |= (groups.of_game >= 0) & (self._price_day == self._last_day[groups.of_game])
        days, cents = _days(self._price_day[needed]), pa.array(self._cents[needed])
        prices = {"id_product": pa.array(groups.ids[needed]), "day": days, "cents": cents}
        return pa.table(groups.columns(numbers) | index), pa.table(prices)

    def _add_block(self, days: _Integers, rows: pa.Table) -> pa.Table:
        trends, lows = self._prices(rows, days, "trend"), self._prices(rows, days, "low")
        before = self._before(trends)
        shape = (len(self._groups), len(days))
        priced, priced_low = (self._sums(shape, prices) for prices in (trends, lows))
        value, value_low = (self._sums(shape, prices, prices.cents) for prices in (trends, lows))
        previous = self._days_before(priced > 0, days)
        now, then = (self._sums(shape, trends, cents, before.day, previous) for cents in (trends.cents, before.cents))
        index = self._chained(priced > 0, now, then)
        self._remember(trends, priced > 0, days)
        group, column = cells = np.nonzero(priced)
        columns = {
            "day": _days(days[column]),
            "value": pa.array(_quotient(value[cells], 100)),
            "priced": pa.array(priced[cells]),
            "value_low": pa.array(_quotient(value_low[cells], 100), mask=priced_low[cells] == 0),
            "priced_low": pa.array(priced_low[cells]),
            "index": pa.array(index[cells]),
        }
        return pa.table(self._groups.columns(group) | columns)

    def _prices(self, rows: pa.Table, days: _Integers, name: str) -> Prices:
        """Return the prices of singles in a column that are not null."""
        ids, known = rows["id_product"].to_numpy(), self._groups.ids
        firsts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1])[: len(ids)])
        place = np.searchsorted(known, ids[firsts])
        place[~np.isin(ids[firsts], known, assume_unique=True)] = -1
        product, price = np.repeat(place, np.diff(firsts, append=len(ids))), rows[name].to_numpy()
        wanted = (product >= 0) & ~np.isnan(price)
        day = _day_numbers(rows)[wanted]
        cents = np.rint(price[wanted] * 100).astype(np.int64)
        return Prices(product[wanted], day, np.searchsorted(days, day), cents)

    def _before(self, prices: Prices) -> Prices:
        """Return for each price the one that the same product had last."""
        first = np.append(True, prices.product[1:] != prices.product[:-1])[: len(prices.product)]
        shifted = [np.roll(values, 1) for values in (prices.day, prices.cents)]
        kept = [values[prices.product] for values in (self._price_day, self._cents)]
        day, cents = (np.where(first, old, new) for old, new in zip(kept, shifted, strict=True))
        return prices._replace(day=day, cents=cents)

    def _sums(
        self,
        shape: tuple[int, int],
        prices: Prices,
        amounts: _Integers | None = None,
        day: _Integers | None = None,
        wanted: _Integers | None = None,
    ) -> _Integers:
        """Return the sum of amounts by group and column of the day, or the number of prices without amounts.

        Args:
            day, wanted: A day for each amount, and one for each sum. Other amounts do not count.

        Raises:
            LakeError: A sum does not fit into 64 bits.
        """
        total = np.zeros(shape[0] * shape[1], np.int64)
        for group_of in (self._groups.of_set, self._groups.of_game):
            cell = group_of[prices.product] * shape[1] + prices.column
            counts = cell >= 0
            if day is not None and wanted is not None:
                counts &= day == wanted.ravel()[cell]
            if amounts is None:
                total += np.bincount(cell[counts], minlength=len(total))
            else:
                total += _exact_sums(cell[counts], amounts[counts], len(total))
        return total.reshape(shape)

    def _days_before(self, has_day: _Flags, days: _Integers) -> _Integers:
        """Return for each group and day the group's day before it."""
        places = np.where(has_day, np.arange(len(days)), -1)
        last = np.maximum.accumulate(places, axis=1)[:, :-1]
        before = np.concatenate([np.full((len(has_day), 1), -1), last], axis=1)
        return np.where(before >= 0, days[before], self._last_day[:, None])

    def _chained(self, has_day: _Flags, now: _Integers, then: _Integers) -> NDArray[np.float64]:
        """Return the index of each group on each of its days."""
        steps = np.ones(now.shape)
        moved = has_day & (then > 0)
        steps[moved] = _quotient(now[moved], then[moved])
        index = np.empty(now.shape)
        for column in range(now.shape[1]):
            self._index = self._index * steps[:, column]
            index[:, column] = self._index
        return index

    def _remember(self, prices: Prices, has_day: _Flags, days: _Integers) -> None:
        last = np.append(prices.product[1:] != prices.product[:-1], True)[: len(prices.product)]
        self._price_day[prices.product[last]] = prices.day[last]
        self._cents[prices.product[last]] = prices.cents[last]
        found = has_day.any(axis=1)
        self._last_day[found] = days[len(days) - 1 - has_day[found, ::-1].argmax(axis=1)]


def _blocks(rows: pa.Table) -> Iterator[tuple[_Integers, pa.Table]]:
    """Yield rows in blocks of ascending days, each block with its days."""
    number = _day_numbers(rows)
    days = np.unique(number)
    step = max(1, _ROWS_AT_ONCE * len(days) // max(len(rows), 1))
    for start in range(0, len(days), step):
        block = days[start : start + step]
        yield block, rows if len(block) == len(days) else rows.filter(pa.array(np.isin(number, block)))


def _exact_sums(cells: _Integers, amounts: _Integers, size: int) -> _Integers:
    """Return the sums of amounts that are not negative, by cell."""
    low = np.bincount(cells, amounts & ((1 << _PART_BITS) - 1), size).astype(np.int64)
    if not (amounts >> _PART_BITS).any():
        return low
    high = np.bincount(cells, amounts >> _PART_BITS, size)
    if high.max() >= _TOO_HIGH - 1:
        raise LakeError("price_guide: the prices of a game or set sum to more than 90,000,000,000,000,000 on one day")
    return (high.astype(np.int64) << _PART_BITS) + low


def _quotient(numerators: _Integers, denominators: _Integers | int) -> NDArray[np.float64]:
    """Return the doubles nearest to quotients of integers."""
    quotients: NDArray[np.float64] = numerators / np.asarray(denominators)
    for place in np.flatnonzero((numerators > _EXACT) | (denominators > np.int64(_EXACT))):
        denominator = denominators if isinstance(denominators, int) else int(denominators[place])
        quotients[place] = int(numerators[place]) / denominator
    return quotients


def _day_numbers(rows: pa.Table) -> _Integers:
    numbers: _Integers = rows["day"].cast(pa.int32()).to_numpy().astype(np.int64)
    return numbers


def _days(numbers: _Integers) -> pa.Array:
    return pa.array(numbers.astype(np.int32)).cast(pa.date32())
