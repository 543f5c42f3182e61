"""The table `filtered_checks`: each product's cheapest offers under the seller filter, checked about once a
day.

Lists of offers are kept on every day, so that any day can be the last; on every tenth day the lists were
lost, and here and there one is missing. That costs 5 bytes an offer: a year of 78,000 products takes a few
hundred megabytes.
"""

import numpy as np
import pyarrow as pa

from generator.demo.draw import Integers, Words, below, by_quantile, chance, draw, falls, field
from generator.demo.offers import condition_codes, first_words, lay_out, list_keys, seller_names
from generator.demo.products import Catalogue
from generator.demo.times import SECONDS_A_DAY, moments
from generator.demo.walk import Walk

_MISSING, _WITHOUT_LISTS, _LATE = (41, 23), (10, 3), (6, 1)
_NEVER_SHARE, _DAILY_SHARE = 0.06, 0.97
_LONGEST = 20  # offers on the page that is read
_OFFERS_CURVE = [(0, 0), (140_000, 1), (500_000, 4), (800_000, 7), (960_000, 18), (1_000_000, 70)]


class FilteredChecks:
    """Makes the table day by day; `day` must be called for every day from 0 on."""

    def __init__(self, seed: int, catalogue: Catalogue) -> None:
        words = draw(seed, "filtered_checks", len(catalogue.ids), sheets=2)
        self._seed, self._ids = seed, catalogue.ids
        self._walk = Walk(seed, "filtered_checks", catalogue.cents * (850 + below(words[0], 0, 700)) // 1000)
        self._never = chance(words[0], 16, _NEVER_SHARE)
        self._usual = by_quantile(_OFFERS_CURVE, (field(words[1], 0, 32) * 1_000_000) >> 32)

    def day(self, day: int) -> pa.Table | None:
        """The checks of one day; None where there were none."""
        words = self._walk.step(day)
        rows = np.flatnonzero(~self._never & (field(words, 40, 8) < 256 * _DAILY_SHARE))
        if falls(day, _MISSING) or not len(rows):
            return None
        # Some are checked twice: later, or within the same second.
        again = rows[field(words[rows], 57, 7) == 0]
        return self._table(day, np.concatenate([rows, again]), len(rows), words)

    def _table(self, day: int, rows: Integers, first: int, words: Words) -> pa.Table:
        repeated = (np.arange(len(rows)) >= first).astype(np.int64)
        keys = list_keys(self._seed, rows, self._walk.version[rows], repeated)
        lowest, count = self._walk.cents[rows], self._counts(rows, keys)
        no_list = (field(words[rows], 48, 5) == 0) | falls(day, _WITHOUT_LISTS)
        offers = lay_out(keys, lowest, np.where(no_list, 0, np.minimum(count, _LONGEST)))
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
                "checked_at": self._moments(day, rows, repeated, keys),
                "offers": count.astype(np.int32),
                "lowest": pa.array(lowest / 100, mask=none),
                "cheapest_seller": seller_names(cheapest, none),
                "cheapest_condition": condition_codes(cheapest, none),
                "offer_list": offers.lists(columns, no_list),
            }
        )

    def _counts(self, rows: Integers, keys: Words) -> Integers:
        """How many offers: about the product's usual number; those without any rarely get one."""
        usual = self._usual[rows]
        change = below(keys, 16, 3) - 1
        return np.where(usual == 0, field(keys, 32, 4) == 0, np.maximum(usual + change, 0)).astype(np.int64)

    def _moments(self, day: int, rows: Integers, repeated: Integers, keys: Words) -> pa.Array:
        """The scraper goes round once a day from a new place; now and then one check is past midnight."""
        second = (rows * SECONDS_A_DAY // len(self._ids) + day * 4_321 + field(keys, 8, 4)) % SECONDS_A_DAY
        second = np.minimum(second + repeated * (rows % 2) * 7_200, SECONDS_A_DAY - 1)
        late = (np.arange(len(rows)) == day * 97 % len(rows)) & falls(day, _LATE)
        return moments(day, np.where(late, SECONDS_A_DAY + 5, second), field(keys, 40, 10) % 1000)
