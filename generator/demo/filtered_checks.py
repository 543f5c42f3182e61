"""The table `filtered_checks`: the cheapest offers under the seller filter, checked about once a day.

Every day has lists of offers, so that any day can be the last. Every tenth day has none, and on other days a few are
missing. An offer takes about 5 bytes: a year of 78,000 products takes a few hundred megabytes.
"""

import numpy as np
import pyarrow as pa

from generator.demo.columns import SECONDS_A_DAY, timestamps
from generator.demo.draw import Integers, Words, below, by_quantile, chance, draw_rows, field, millionths, recurs
from generator.demo.offers import condition_codes, first_words, list_keys, make_offers, seller_names
from generator.demo.price_walk import PriceWalk
from generator.demo.products import DemoCatalogue

_MISSING, _WITHOUT_LISTS, _LATE = (41, 23), (10, 3), (6, 1)
_NEVER_SHARE, _DAILY_SHARE = 0.06, 0.97
_MAX_LISTED = 20  # offers on the page that is read
_OFFERS_CURVE = [(0, 0), (140_000, 1), (500_000, 4), (800_000, 7), (960_000, 18), (1_000_000, 70)]


class FilteredChecks:
    """Makes the table day by day. `day` must be called for every day from 0 on."""

    def __init__(self, seed: int, catalogue: DemoCatalogue) -> None:
        words = draw_rows(seed, "filtered_checks", 2, len(catalogue.ids))
        self._seed, self._ids = seed, catalogue.ids
        self._walk = PriceWalk(seed, "filtered_checks", catalogue.cents * (750 + below(words[0], 0, 350)) // 1000)
        self._never = chance(words[0], 16, _NEVER_SHARE)
        self._usual = by_quantile(_OFFERS_CURVE, millionths(words[1]))

    def day(self, day: int) -> pa.Table | None:
        """Return the checks of one day, or None if there were none."""
        words = self._walk.step(day)
        rows = np.flatnonzero(~self._never & (field(words, 40, 8) < 256 * _DAILY_SHARE))
        if recurs(day, _MISSING) or not len(rows):
            return None
        # Some are checked twice: hours later, or within the same second.
        again = rows[field(words[rows], 57, 7) == 0]
        return self._table(day, np.concatenate([rows, again]), len(rows), words)

    def _table(self, day: int, rows: Integers, first: int, words: Words) -> pa.Table:
        repeated = (np.arange(len(rows)) >= first).astype(np.int64)
        keys = list_keys(self._seed, rows, self._walk.version[rows], repeated)
        lowest, count = self._walk.cents[rows], self._counts(rows, keys)
        no_list = (field(words[rows], 48, 5) == 0) | recurs(day, _WITHOUT_LISTS)
        offers = make_offers(keys, lowest, np.where(no_list, 0, np.minimum(count, _MAX_LISTED)))
        columns = {
            "price": offers.prices,
            "condition": offers.conditions,
            "quantity": offers.quantities,
            "seller": offers.sellers,
        }
        cheapest, none = first_words(keys), count == 0
        return pa.table(
            {
                "id_product": self._ids[rows],
                "checked_at": self._checked_at(day, rows, repeated, words[rows]),
                "offers": count.astype(np.int32),
                "lowest": pa.array(lowest / 100, mask=none),
                "cheapest_seller": seller_names(cheapest, none),
                "cheapest_condition": condition_codes(cheapest, none),
                "offer_list": offers.lists(columns, no_list),
            }
        )

    def _counts(self, rows: Integers, keys: Words) -> Integers:
        """Return how many offers there are: about the usual number of each product."""
        usual = self._usual[rows]
        change = below(keys, 16, 3) - 1
        counts = np.where(usual == 0, field(keys, 32, 4) == 0, np.maximum(usual + change, 0))
        integers: Integers = counts.astype(np.int64)
        return integers

    def _checked_at(self, day: int, rows: Integers, repeated: Integers, words: Words) -> pa.Array:
        """Return when rows were checked: one round a day from a new start. Sometimes one check is after midnight."""
        second = (rows * SECONDS_A_DAY // len(self._ids) + day * 4_321 + field(words, 24, 4)) % SECONDS_A_DAY
        second = np.minimum(second + repeated * (rows % 2) * 7_200, SECONDS_A_DAY - 1)
        late = (np.arange(len(rows)) == day * 97 % len(rows)) & recurs(day, _LATE)
        milliseconds = field(words, 28, 9) + repeated * (rows % 4 == 0)
        return timestamps(day, np.where(late, SECONDS_A_DAY + 5, second), milliseconds)
