"""The table `watch_checks`: each tracked product is checked three to six times a day, with gaps.

Some checks lack the number of offers or the lowest price but list the offers, some lack the list, some found
nothing. The last product is never checked; the first check of every seventh day is dated past midnight.
"""

import numpy as np
import pyarrow as pa

from generator.demo.draw import Integers, Words, below, chance, draw, falls, field
from generator.demo.offers import Offers, lay_out, list_keys
from generator.demo.text import chosen
from generator.demo.times import SECONDS_A_DAY, moments
from generator.demo.walk import Walk
from generator.demo.watchlist import Watchlist
from generator.demo.words import COMMENTS, QUANTITIES

_MISSING, _LATE, _GONE = (53, 30), (7, 2), (30, 4)
_GONE_SLUG = "no-longer-watched"
_SLOTS, _LONGEST = 6, 12
_GAP_OF, _GAP_EVERY, _GAP_DAYS = 5, 20, range(5, 9)


class WatchChecks:
    """Makes the table day by day; `day` must be called for every day from 0 on."""

    def __init__(self, seed: int, watchlist: Watchlist) -> None:
        self._seed = seed
        self._slugs = pa.array([*watchlist.table["slug"].to_pylist(), _GONE_SLUG], pa.string())
        self._walk = Walk(seed, "watch_checks", np.append(watchlist.cents, 500))

    def day(self, day: int) -> pa.Table | None:
        """The checks of one day; None where there were none."""
        self._walk.step(day)
        words = draw(self._seed, "watch_times", len(self._slugs) * _SLOTS, day)
        rows = np.flatnonzero(self._made(day, words))
        if falls(day, _MISSING) or not len(rows):
            return None
        return self._table(day, rows, words[rows])

    def _made(self, day: int, words: Words) -> np.ndarray:
        """Which of a product's six turns a day led to a check."""
        product, slot = np.divmod(np.arange(len(words)), _SLOTS)
        often = 3 + field(words[product * _SLOTS], 0, 2)
        gap = (product == _GAP_OF) & (day % _GAP_EVERY in _GAP_DAYS)
        gone = (product == len(self._slugs) - 1) & ((slot > 0) | (not falls(day, _GONE)))
        never = product == len(self._slugs) - 2
        skipped = chance(words[product * _SLOTS], 2, 0.04)
        return (slot < often) & ~(gap | gone | never | skipped)

    def _table(self, day: int, rows: Integers, words: Words) -> pa.Table:
        product, slot = np.divmod(rows, _SLOTS)
        jitter = np.where(field(words, 18, 1) == 1, below(words, 20, 31) - 15, 0)
        lowest = self._walk.cents[product] * (1000 + jitter) // 1000
        fate = field(words, 36, 6)  # 0-1 nothing found, 2-4 no number, 5-7 no price, 8-9 no list, 10 none of them
        count = np.where(fate < 2, 0, 1 + field(words, 42, 4))
        no_list = (fate >= 8) & (fate <= 10)
        keys = list_keys(self._seed, product, self._walk.version[product], np.where(jitter == 0, 15, slot))
        offers = lay_out(keys, lowest, np.where(no_list, 0, np.minimum(count, _LONGEST)))
        no_count = ((fate >= 2) & (fate <= 4)) | (fate == 10)
        no_price = ((fate >= 5) & (fate <= 7)) | (fate == 10) | (count == 0)
        return pa.table(
            {
                "slug": self._slugs.take(pa.array(product)),
                "checked_at": self._moments(day, slot, words),
                "num_offers": pa.array(count.astype(np.int32), mask=no_count),
                "lowest_price": pa.array(lowest / 100, mask=no_price),
                "offer_list": offers.lists(_columns(offers), no_list),
            }
        )

    def _moments(self, day: int, slot: Integers, words: Words) -> pa.Array:
        turn = SECONDS_A_DAY // _SLOTS
        second = slot * turn + below(words, 46, turn)
        late = (np.arange(len(slot)) == 0) & falls(day, _LATE)
        return moments(day, np.where(late, SECONDS_A_DAY + 60, second), field(words, 20, 9))


def _columns(offers: Offers) -> dict[str, pa.Array]:
    words = offers.words
    return {
        "seller": offers.sellers,
        "condition": offers.conditions,
        "quantity": chosen(QUANTITIES, below(words, 28, len(QUANTITIES)), field(words, 20, 5) == 0),
        "price": offers.prices,
        "comment": chosen(COMMENTS, below(words, 24, len(COMMENTS)), field(words, 4, 2) != 0),
    }
