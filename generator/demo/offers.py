"""Lists of offers, laid out flat: every value is a hash of its list's key and its place in the list.

So a product whose offers did not move has the very same list the next day. Some offers lack what they should
have (a price, a seller, a known condition, a quantity), many share a price, and a few lists are not in order
of price.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from generator.demo.draw import Integers, Words, below, by_weight, field, mix
from generator.demo.text import chosen
from generator.demo.words import CONDITION_WEIGHTS, CONDITIONS, SELLERS

# Thousandths between an offer and the next: 18 of 64 none at all.
_GAPS = np.concatenate([np.zeros(18), np.arange(46) ** 2 // 8]).astype(np.int64)
_JOKE = 9_999_99
_QUANTITIES = np.array([1] * 44 + [2] * 8 + [3] * 4 + [4] * 4 + [8, 12, 40, 99], dtype=np.int64)


class Offers(NamedTuple):
    """Offers of many lists, one list after the other; list i is from offsets[i] up to offsets[i + 1]."""

    offsets: np.ndarray  # int32
    words: Words  # one hash per offer
    cents: Integers

    @property
    def prices(self) -> pa.Array:
        """Euros; null for 3 in a thousand."""
        return pa.array(self.cents / 100, mask=field(self.words, 44, 16) < 200)

    @property
    def sellers(self) -> pa.Array:
        """Names; null for 3 in a thousand."""
        return seller_names(self.words, field(self.words, 44, 16) // 200 == 1)

    @property
    def conditions(self) -> pa.Array:
        """Mostly one of the seven codes."""
        return chosen(CONDITIONS, by_weight(CONDITION_WEIGHTS, self.words, 16))

    @property
    def quantities(self) -> pa.Array:
        """int32; null for 3 %."""
        count = _QUANTITIES[field(self.words, 38, 6)].astype(np.int32)
        return pa.array(count, mask=field(self.words, 44, 16) // 2000 == 1)

    def lists(self, columns: dict[str, pa.Array], mask: np.ndarray) -> pa.Array:
        """The lists of offers with these columns; null where `mask` is true (such a list must be empty)."""
        struct = pa.StructArray.from_arrays(list(columns.values()), names=list(columns))
        return pa.ListArray.from_arrays(pa.array(self.offsets), struct, mask=pa.array(mask))


def list_keys(seed: int, rows: Integers, version: Integers, variant: Integers | int = 0) -> Words:
    """A key for each list: the same while the product's version (and the variant, below 16) is."""
    key = (rows << 24) | (version << 4) | variant
    return mix(key.astype(np.uint64) ^ (np.uint64(seed) << np.uint64(32)))


def lay_out(keys: Words, lowest: Integers, lengths: Integers) -> Offers:
    """Offers from `lowest` cents upwards, `lengths` of them for each key."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    of_list = np.repeat(np.arange(len(keys)), lengths)
    place = np.arange(offsets[-1]) - offsets[of_list]
    words = mix(keys[of_list] + place.astype(np.uint64))
    cents = _rising(words, lowest[of_list], place, offsets[of_list])
    last = place == lengths[of_list] - 1
    cents = np.where(last & (place > 3) & (field(words, 60, 4) == 0), _JOKE, cents)
    backwards = field(keys[of_list], 0, 5) == 0
    order = np.where(backwards, offsets[of_list + 1] - 1, offsets[of_list]) + np.where(backwards, -place, place)
    return Offers(offsets.astype(np.int32), words[order], cents[order])


def _rising(words: Words, lowest: Integers, place: Integers, start: Integers) -> Integers:
    gap = _GAPS[field(words, 32, 6)]
    step = np.where(place == 0, 0, lowest * gap // 1000 + (gap > 100))
    total = np.cumsum(step)
    return lowest + total - total[start] if len(total) else lowest


def first_words(keys: Words) -> Words:
    """The hash of the cheapest offer of each key's list, were it laid out."""
    return mix(keys)


def seller_names(words: Words, mask: np.ndarray) -> pa.Array:
    """Sellers of these offers; null where `mask` is true."""
    return chosen(SELLERS, below(words, 0, len(SELLERS)), mask)


def condition_codes(words: Words, mask: np.ndarray) -> pa.Array:
    """Conditions of these offers, codes only; null where `mask` is true."""
    place = by_weight(CONDITION_WEIGHTS, words, 16)
    return chosen(CONDITIONS, np.where(place < 7, place, 0), mask)
