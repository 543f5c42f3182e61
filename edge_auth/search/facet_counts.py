"""How many of some products are of each set and of each rarity, and how many are singles.

Products that match filters are counted on bits, one for each product in the order of the catalogue, 64 to a word.
Products have the order of their sets, so the products of a set lie side by side. Singles and each frequent rarity have
bits of their own. Products of other rarities are looked up one by one, and so are the matches if they are few.

Products in a range of prices lie side by side in the ranking by that price. Of such a ranking the numbers up to some
ranks are known before, so only the products beside two of these ranks are looked up.
"""

from typing import NamedTuple

import numpy as np

_WORD_BITS = 64
_FEW_IN_WORD = 1 / 4  # so many matches for each word, or less, are looked up
_STEPS = 256  # of a ranking


class Counts(NamedTuple):
    """Numbers of products: of each set, of each rarity, and of singles. The last set and rarity stand for none."""

    of_sets: np.ndarray
    of_rarities: np.ndarray
    singles: int


class FacetCounts:
    """The products of a catalogue in the form in which they are counted.

    Args:
        set_: The place of each product's set, ascending.
        rarity: The place of each product's rarity.
        single: Whether each product is a single.
        sets, rarities: The numbers of places.
        ranking: The products that have a price, by price.
    """

    def __init__(
        self, set_: np.ndarray, rarity: np.ndarray, single: np.ndarray, sets: int, rarities: int, ranking: np.ndarray
    ):
        self._set, self._rarity, self._single, self._ranking = set_, rarity, single, ranking
        self._sets, self._rarities = sets, rarities
        self._words = len(set_) // _WORD_BITS + 1
        starts = np.searchsorted(set_, np.arange(sets + 1))
        self._start_word, bit = np.divmod(starts, _WORD_BITS)
        self._before_start = (np.uint64(1) << bit.astype(np.uint64)) - np.uint64(1)
        sizes = np.bincount(rarity, minlength=rarities)
        self._frequent = np.flatnonzero(sizes >= self._words)
        self._bits = np.array([_bits(mask) for mask in (single, *(rarity == place for place in self._frequent))])
        self._rest = Groups(rarity, rarities, np.flatnonzero(sizes[rarity] < self._words))
        self._step = len(ranking) // _STEPS + 1
        self._before_step = self._counts_before_steps()

    def _counts_before_steps(self) -> np.ndarray:
        """Return the counts of the products before each step of the ranking: a row of sets, rarities and singles."""
        rows = [np.zeros(self._sets + self._rarities + 1, np.uint32)]
        for start in range(0, len(self._ranking), self._step):
            of_sets, of_rarities, singles = self.of_few(self._ranking[start : start + self._step])
            rows.append(rows[-1] + np.concatenate((of_sets, of_rarities, [singles])).astype(np.uint32))
        return np.array(rows)

    def of_mask(self, mask: np.ndarray) -> Counts:
        """Return the counts of the products that match: bool, by ordinal."""
        bits = _bits(mask)
        of_words = np.bitwise_count(bits)
        if of_words.sum(dtype=np.uint32) <= _FEW_IN_WORD * self._words:
            return self.of_few(np.flatnonzero(mask))
        singles, *of_frequent = np.bitwise_count(self._bits & bits).sum(axis=1, dtype=np.uint32).tolist()
        of_rarities = self._rest.sums(mask)
        of_rarities[self._frequent] = of_frequent
        return Counts(self._of_sets(bits, of_words), of_rarities, singles)

    def of_ranks(self, start: int, stop: int) -> Counts:
        """Return the counts of the products in a range of the ranking."""
        first, last = -(-start // self._step), stop // self._step
        if first > last:
            return self.of_few(self._ranking[start:stop])
        beside = self._ranking[start : first * self._step], self._ranking[last * self._step : stop]
        few, row = self.of_few(np.concatenate(beside)), self._before_step[last] - self._before_step[first]
        of_sets, of_rarities = row[: self._sets] + few.of_sets, row[self._sets : -1] + few.of_rarities
        return Counts(of_sets, of_rarities, int(row[-1]) + few.singles)

    def of_few(self, products: np.ndarray) -> Counts:
        """Return the counts of some products, which are looked up one by one."""
        return Counts(
            np.bincount(self._set.take(products), minlength=self._sets),
            np.bincount(self._rarity.take(products), minlength=self._rarities),
            int(np.count_nonzero(self._single.take(products))),
        )

    def _of_sets(self, bits: np.ndarray, of_words: np.ndarray) -> np.ndarray:
        before_word = np.zeros(self._words, np.uint32)
        of_words[:-1].cumsum(out=before_word[1:])
        in_word = np.bitwise_count(bits.take(self._start_word) & self._before_start)
        before = before_word.take(self._start_word) + in_word
        of_sets: np.ndarray = before[1:] - before[:-1]
        return of_sets


class Groups:
    """Items in groups, of which values are added up.

    Args:
        group_of: The group of each item, a number.
        count: The number of groups.
        items: The items that count; None means all.
    """

    def __init__(self, group_of: np.ndarray, count: int, items: np.ndarray | None = None):
        items = np.arange(len(group_of)) if items is None else items
        self._count = count
        self._items = items[np.argsort(group_of[items], kind="stable")]  # those of a group side by side
        self._groups, self._starts = np.unique(group_of[self._items], return_index=True)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of each group: uint32.

        Args:
            values: A value of each item.
        """
        sums = np.zeros(self._count, np.uint32)
        sums[self._groups] = np.add.reduceat(values.take(self._items), self._starts, dtype=np.uint32)
        return sums


def _bits(mask: np.ndarray) -> np.ndarray:
    packed = np.zeros((len(mask) // _WORD_BITS + 1) * _WORD_BITS // 8, np.uint8)
    packed[: -(-len(mask) // 8)] = np.packbits(mask, bitorder="little")
    return packed.view("<u8")
