"""The sums and the index of each group of the market, day by day, from rows of the price guide.

Prices are whole cents here, and their sums are exact. Market prices of foils are negative, so that a finish needs no
table of its own. The index of a day is that of the group's day before it, times what the singles with a price of one
finish on both days cost now, divided by what they cost then. A sum of prices that is too large raises LakeError.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from generator.errors import LakeError
from generator.making.lake_tables import CATALOGUE
from generator.making.work import BuildContext, Work

NO_GAME = -1


class MarketGroups:
    """The groups, numbered: the sets by id, then the games by folded name.

    `members` has id_product, id_expansion and game_folded of each single of an expansion, sorted by id_product.
    """

    def __init__(self, members: pa.Table):
        self.ids: NDArray[np.int64] = members["id_product"].to_numpy()  # sorted
        self.sets, of_set = np.unique(members["id_expansion"].to_numpy(), return_inverse=True)
        games = members["game_folded"].combine_chunks().dictionary_encode()
        self.games: list[str] = sorted(games.dictionary.to_pylist())  # folded
        self._numbers = {game: number for number, game in enumerate(self.games, len(self.sets))}
        numbers = np.array([self._numbers[game] for game in games.dictionary.to_pylist()] + [NO_GAME], np.int64)
        self.of_set: NDArray[np.int64] = of_set.astype(np.int64)
        self.of_game: NDArray[np.int64] = numbers[games.indices.fill_null(NO_GAME).to_numpy()]

    def __len__(self) -> int:
        return len(self.sets) + len(self.games)

    def numbers(self, groups: pa.Table) -> NDArray[np.int64]:
        """Return the numbers of groups that columns id_expansion and game_folded name. Each must be here."""
        sets = {id_: number for number, id_ in enumerate(self.sets.tolist())}
        pairs = zip(groups["id_expansion"].to_pylist(), groups["game_folded"].to_pylist(), strict=True)
        return np.array([self._numbers[game] if id_ is None else sets[id_] for id_, game in pairs], np.int64)

    def columns(self, numbers: NDArray[np.int64]) -> dict[str, pa.Array]:
        """Return the columns id_expansion and game_folded of groups. One of the two is null in each row."""
        sets = pa.array([*self.sets.tolist(), *[None] * len(self.games)], pa.int64())
        games = pa.array([*[None] * len(self.sets), *self.games], pa.string())
        return {"id_expansion": sets.take(pa.array(numbers)), "game_folded": games.take(pa.array(numbers))}

    def digest(self, ids: NDArray[np.int64]) -> str:
        """Return a hash of the groups of those singles that are among some sorted ids."""
        among = np.isin(self.ids, ids, assume_unique=True)
        games = np.array([*[""] * len(self.sets), *self.games, ""])[self.of_game[among]]
        text = "\0".join(games.tolist()).encode()
        return hashlib.sha256(self.ids[among].tobytes() + self.sets[self.of_set[among]].tobytes() + text).hexdigest()


def market_groups(context: BuildContext) -> MarketGroups:
    """Return the groups of the lake's catalogue."""
    context.tables.open(CATALOGUE)
    return MarketGroups(context.db.answer("views/market_members"))


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
_CELLS_AT_ONCE = 5_000_000  # of tables of singles by days
_NO_DAY, _NO_PRICE_DAY = -(2**31), -(2**31) + 1  # the last days of a group and of a single that have none
_NO_PRICE = 0  # no market price is 0
_NO_LOW = -1
_TOO_HIGH = 9 * 10**18  # a sum of cents that hardly fits into 64 bits
_EXACT = 2**53  # doubles have all integers up to here

_Integers = NDArray[np.int64]
_Flags = NDArray[np.bool_]


class MarketChain:
    """The chain of the indexes. Rows of later and later days are added to it.

    Prices are in tables: a row per single, those of a set side by side, and a column per day. So the sums of the sets
    are sums of neighbours, and those of the games are sums over their sets.

    Args:
        groups: The groups of the catalogue.
        last_groups: The group, last day and index of each group so far: id_expansion, game_folded, day, index.
        last_prices: The market prices on these days: id_product, day, cents, negative for foils.
    """

    def __init__(self, groups: MarketGroups, last_groups: pa.Table | None = None, last_prices: pa.Table | None = None):
        self._groups = groups
        by_set = np.argsort(groups.of_set, kind="stable")
        self._row = np.argsort(by_set)  # of each single
        self._first_row = np.searchsorted(groups.of_set[by_set], np.arange(len(groups.sets)))  # of each set
        self._set_of_row = groups.of_set[by_set]
        self._game_of_set = groups.of_game[by_set[self._first_row]]
        self._index = np.full(len(groups), FIRST_INDEX)
        self._last_day = np.full(len(groups), _NO_DAY, np.int64)
        self._price_day = np.full(len(groups.ids), _NO_PRICE_DAY, np.int64)  # by row, as the next
        self._cents = np.zeros(len(groups.ids), np.int64)
        if last_groups is not None and last_prices is not None:
            numbers = groups.numbers(last_groups)
            self._index[numbers] = last_groups["index"].to_numpy()
            self._last_day[numbers] = _day_numbers(last_groups)
            rows = self._row[np.searchsorted(groups.ids, last_prices["id_product"].to_numpy())]
            self._price_day[rows] = _day_numbers(last_prices)
            self._cents[rows] = last_prices["cents"].to_numpy()

    def add(self, rows: pa.Table) -> pa.Table:
        """Add the rows of the view market_guide of later days, with rounded prices, sorted by product and day.

        Returns:
            A row per group and day with a market price: id_expansion, game_folded, day, value, priced, value_low,
            priced_low, index. The values are in euros, the index is not rounded.
        """
        blocks = [self._add_block(days, block) for days, block in _blocks(rows, len(self._row))]
        return pa.concat_tables([MARKET_DAYS.empty_table(), *blocks])

    def last(self) -> tuple[pa.Table, pa.Table]:
        """Return the last day and index of each group, and the prices on these days, as another chain takes them."""
        groups, numbers = self._groups, np.flatnonzero(self._last_day != _NO_DAY)
        index = {"day": _days(self._last_day[numbers]), "index": pa.array(self._index[numbers])}
        price_day, cents = self._price_day[self._row], self._cents[self._row]
        needed = price_day == self._last_day[groups.of_set]
        needed |= (groups.of_game >= 0) & (price_day == self._last_day[groups.of_game])
        prices = {"id_product": groups.ids[needed], "day": _days(price_day[needed]), "cents": cents[needed]}
        return pa.table(groups.columns(numbers) | index), pa.table(prices)

    def _add_block(self, days: _Integers, rows: pa.Table) -> pa.Table:
        if not len(self._row):
            return MARKET_DAYS.empty_table()
        market, lows = self._prices(rows, days)
        priced, priced_low = self._sums(market != _NO_PRICE), self._sums(lows != _NO_LOW)
        value, value_low = self._sums(np.abs(market)), self._sums(np.maximum(lows, 0))
        index = self._chained(priced > 0, *self._now_and_then(market, priced > 0))
        self._remember(market, priced > 0, days)
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

    def _prices(self, rows: pa.Table, days: _Integers) -> list[_Integers]:
        ids, known = rows["id_product"].to_numpy(), self._groups.ids
        firsts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1])[: len(ids)])
        place = np.minimum(np.searchsorted(known, ids[firsts]), len(known) - 1)
        row = np.where(known[place] == ids[firsts], self._row[place], -1)
        cell = np.repeat(row * len(days), np.diff(firsts, append=len(ids)))
        cell += np.searchsorted(days, np.arange(days[0], days[-1] + 1))[_day_numbers(rows) - days[0]]
        tables = []
        for name, without in (("market", _NO_PRICE), ("low", _NO_LOW)):
            table, price = np.full(len(self._row) * len(days), without), rows[name].to_numpy()
            wanted = (cell >= 0) & ~np.isnan(price)
            table[cell[wanted]] = np.rint(price[wanted] * 100)
            tables.append(table.reshape(-1, len(days)))
        return tables

    def _sums(self, amounts: _Integers | _Flags) -> _Integers:
        may_be_too_high = int(amounts.max(initial=0)) * len(amounts) >= _TOO_HIGH
        if may_be_too_high and self._of_groups(self._of_sets(amounts.astype(np.float64))).max() >= _TOO_HIGH:
            raise LakeError("price_guide: the prices of a game or set sum to more than 90,000,000,000,000,000 on a day")
        return self._of_groups(self._of_sets(amounts))

    def _of_sets(self, amounts: NDArray[Any]) -> NDArray[Any]:
        dtype = np.float64 if amounts.dtype == np.float64 else np.int64
        sums: NDArray[Any] = np.add.reduceat(amounts, self._first_row, axis=0, dtype=dtype)
        return sums

    def _of_groups(self, sums: NDArray[Any], of_games: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return sums by set, followed by those of the games, which may be made of other sums by set."""
        games = np.zeros((len(self._groups.games), sums.shape[1]), sums.dtype)
        in_game = self._game_of_set >= 0
        parts = sums if of_games is None else of_games
        np.add.at(games, self._game_of_set[in_game] - len(self._groups.sets), parts[in_game])
        return np.concatenate([sums, games])

    def _now_and_then(self, prices: _Integers, has_day: _Flags) -> tuple[_Integers, _Integers]:
        """Return what the singles with a price of one finish on a day and on the group's day before it cost on both."""
        before = _columns_before(has_day)
        sets, games = np.arange(len(self._groups.sets)), self._game_of_set
        of_sets = self._pairs(prices, before[sets], self._last_day[sets])
        of_games = self._pairs(prices, before[games], self._last_day[games])
        now, then = (self._of_groups(one, other) for one, other in zip(of_sets, of_games, strict=True))
        return now, then

    def _pairs(self, prices: _Integers, before: _Integers, last_day: _Integers) -> tuple[_Integers, _Integers]:
        """Return the sums by set of the prices of singles that have one of one finish on both of two days, on each.

        `before` is the column of the earlier day by set and day, -1 for the set's row of `last_day`.
        """
        kept = np.where(self._price_day == last_day[self._set_of_row], self._cents, _NO_PRICE)
        table = np.column_stack([kept, prices])
        earlier = np.take_along_axis(table, before[self._set_of_row] + 1, axis=1)
        both = (prices != _NO_PRICE) & (earlier != _NO_PRICE) & (prices ^ earlier >= 0)  # of the same sign
        return self._of_sets(np.abs(prices) * both), self._of_sets(np.abs(earlier) * both)

    def _chained(self, has_day: _Flags, now: _Integers, then: _Integers) -> NDArray[np.float64]:
        steps = np.ones(now.shape)
        moved = has_day & (then > 0)
        steps[moved] = _quotient(now[moved], then[moved])
        index = np.empty(now.shape)
        for column in range(now.shape[1]):
            self._index = self._index * steps[:, column]
            index[:, column] = self._index
        return index

    def _remember(self, prices: _Integers, has_day: _Flags, days: _Integers) -> None:
        has_price = prices != _NO_PRICE
        found, column = has_price.any(axis=1), _last_columns(has_price)
        self._price_day[found] = days[column[found]]
        self._cents[found] = prices[found, column[found]]
        found = has_day.any(axis=1)
        self._last_day[found] = days[_last_columns(has_day)[found]]


def _blocks(rows: pa.Table, singles: int) -> Iterator[tuple[_Integers, pa.Table]]:
    """Yield rows in blocks of ascending days, each block with its days."""
    number = _day_numbers(rows)
    days = np.flatnonzero(np.bincount(number - number.min(initial=0))) + number.min(initial=0)
    step = max(1, _CELLS_AT_ONCE // max(singles, 1))
    for start in range(0, len(days), step):
        block = days[start : start + step]
        yield block, rows if len(block) == len(days) else rows.filter(pa.array(np.isin(number, block)))


def _columns_before(has_day: _Flags) -> _Integers:
    """Return for each group and day the column of the group's day before it, -1 for none."""
    last = np.maximum.accumulate(np.where(has_day, np.arange(has_day.shape[1]), -1), axis=1)
    return np.concatenate([np.full((len(has_day), 1), -1), last[:, :-1]], axis=1)


def _last_columns(flags: _Flags) -> _Integers:
    columns: _Integers = flags.shape[1] - 1 - flags[:, ::-1].argmax(axis=1)
    return columns


def _quotient(numerators: _Integers, denominators: _Integers | int) -> NDArray[np.float64]:
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


DAYS = "days"  # a row per group and day
KEPT = "kept"  # of these and of earlier periods, the rows that later periods need
LAST = ("last_groups", "last_prices")  # what `MarketChain.last` returns


def days_of(work: Work, layers: Iterable[str]) -> Iterator[pa.Table]:
    for name in layers:
        yield pq.read_table(work.file(name, DAYS), use_threads=False)


def with_kept(work: Work, before: Sequence[str], days: pa.Table) -> pa.Table:
    """Return the days of a period after those that the layers of the years before keep."""
    return pa.concat_tables([*(pq.read_table(work.file(name, KEPT)) for name in before[-1:]), days])


def open_chain(work: Work, before: Sequence[str]) -> MarketChain:
    """Return the chain that goes on from the last of the layers of the years before, or begins."""
    last = (pq.read_table(work.file(name, stem)) for name in before[-1:] for stem in LAST)
    return MarketChain(market_groups(work.context), *last)
