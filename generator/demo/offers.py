"""Lists of offers as flat arrays. Every value is a hash of its list's key and its place in the list.

So a product whose price did not move has the same list on the next day. Some offers lack a price, a seller, a known
condition or a quantity, many have the same price, and a few lists are not sorted by price.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from generator.demo.columns import choose
from generator.demo.draw import Flags, Integers, Words, below, by_weight, field, mix
from generator.demo.words import CONDITION_CODES, CONDITION_WEIGHTS, CONDITIONS, SELLERS

# Thousandths between an offer and the next: 18 of 64 none at all.
_GAPS = np.concatenate([np.zeros(18), np.arange(46) ** 2 // 8]).astype(np.int64)
_JOKE_CENTS = 9_999_99
_QUANTITIES = np.array([1] * 44 + [2] * 8 + [3] * 4 + [4] * 4 + [8, 12, 40, 99], dtype=np.int64)


class OfferLists(NamedTuple):
    """The offers of many lists, one list after the other. List i is from offsets[i] up to offsets[i + 1]."""

    offsets: NDArray[np.int32]
    words: Words  # one hash per offer
    cents: Integers

    @property
    def prices(self) -> pa.Array:
        """Prices in euros. 3 in a thousand are null."""
        return pa.array(self.cents / 100, mask=field(self.words, 44, 16) < 200)

    @property
    def sellers(self) -> pa.Array:
        """Names of sellers. 3 in a thousand are null."""
        return seller_names(self.words, field(self.words, 44, 16) // 200 == 1)

    @property
    def conditions(self) -> pa.Array:
        """Conditions, nearly all of them one of the seven codes."""
        return choose(CONDITIONS, by_weight(CONDITION_WEIGHTS, self.words, 16))

    @property
    def quantities(self) -> pa.Array:
        """Quantities as int32. 3 % are null."""
        count = _QUANTITIES[field(self.words, 38, 6)].astype(np.int32)
        return pa.array(count, mask=field(self.words, 44, 16) // 2000 == 1)

    def lists(self, columns: dict[str, pa.Array], mask: Flags) -> pa.Array:
        """Return lists of offers with these columns. They are null where `mask` is true; those must be empty."""
        struct = pa.StructArray.from_arrays(list(columns.values()), names=list(columns))
        return pa.ListArray.from_arrays(pa.array(self.offsets), struct, mask=pa.array(mask))


def list_keys(seed: int, rows: Integers, version: Integers, variant: Integers | int = 0) -> Words:
    """Return a key for each list. It changes only with the product's version or the variant (below 16)."""
    key = (rows << 24) | (version << 4) | variant
    return mix(key.astype(np.uint64) ^ (np.uint64(seed) << np.uint64(32)))


def make_offers(keys: Words, lowest: Integers, lengths: Integers) -> OfferLists:
    """Make offers from `lowest` cents upwards, `lengths` of them for each key."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    of_list = np.repeat(np.arange(len(keys)), lengths)
    place = np.arange(offsets[-1]) - offsets[of_list]
    words = mix(keys[of_list] + place.astype(np.uint64))
    cents = _rising(words, lowest[of_list], place, offsets[of_list])
    last = place == lengths[of_list] - 1
    cents = np.where(last & (place > 3) & (field(words, 60, 4) == 0), _JOKE_CENTS, cents)
    backwards = field(keys[of_list], 0, 5) == 0
    order = np.where(backwards, offsets[of_list + 1] - 1, offsets[of_list]) + np.where(backwards, -place, place)
    return OfferLists(offsets.astype(np.int32), words[order], cents[order])


def _rising(words: Words, lowest: Integers, place: Integers, start: Integers) -> Integers:
    gap = _GAPS[field(words, 32, 6)]
    step = np.where(place == 0, 0, lowest * gap // 1000 + (gap > 100))
    total = np.cumsum(step)
    return lowest + total - total[start] if len(total) else lowest


def first_words(keys: Words) -> Words:
    """Return the word of the cheapest offer of each key's list, without making the list."""
    return mix(keys)


def seller_names(words: Words, mask: Flags) -> pa.Array:
    """Return the sellers of these offers. They are null where `mask` is true."""
    return choose(SELLERS, below(words, 0, len(SELLERS)), mask)


def condition_codes(words: Words, mask: Flags) -> pa.Array:
    """Return the condition codes of these offers. They are null where `mask` is true."""
    place = by_weight(CONDITION_WEIGHTS, words, 16)
    return choose(CONDITIONS, np.where(place < len(CONDITION_CODES), place, 0), mask)
