"""The table `listings`: what the expansions' list pages say; each expansion is read every third day."""

import numpy as np
import pyarrow as pa

from generator.demo.draw import Integers, below, by_quantile, chance, draw, falls, field, mix
from generator.demo.products import Catalogue
from generator.demo.times import SECONDS_A_DAY, moments
from generator.demo.walk import Walk

_MISSING = (43, 12)
_EVERY = 3
_AVAILABLE_CURVE = [(0, 0), (60_000, 1), (500_000, 25), (900_000, 400), (990_000, 2_500), (1_000_000, 40_000)]


class Listings:
    """Makes the table day by day; `day` must be called for every day from 0 on."""

    def __init__(self, seed: int, catalogue: Catalogue) -> None:
        words = draw(seed, "listings", len(catalogue.ids), sheets=2)
        self._catalogue = catalogue
        self._walk = Walk(seed, "listings", catalogue.cents * (300 + below(words[0], 0, 600)) // 1000)
        self._unlisted = chance(words[0], 16, 0.03)
        self._has_foil = chance(words[0], 32, 0.25) & ~catalogue.is_sealed
        self._available = by_quantile(_AVAILABLE_CURVE, (field(words[1], 0, 32) * 1_000_000) >> 32)

    def day(self, day: int) -> pa.Table | None:
        """The pages read on one day; None where none were."""
        words = self._walk.step(day)
        due = (self._catalogue.expansion + day) % _EVERY == 0
        rows = np.flatnonzero(due & ~self._unlisted)
        if falls(day, _MISSING) or not len(rows):
            return None
        # Some are on a page that is read twice: later, or within the same second.
        again = rows[field(words[rows], 56, 8) == 0]
        return self._table(day, np.concatenate([rows, again]), len(rows), words)

    def _table(self, day: int, rows: Integers, first: int, words: np.ndarray) -> pa.Table:
        repeated = np.arange(len(rows)) >= first
        words = words[rows]
        count = self._available[rows] * (90 + below(words, 40, 20)) // 100 + repeated
        from_price, foil = self._walk.cents[rows], self._has_foil[rows]
        return pa.table(
            {
                "id_product": self._catalogue.ids[rows],
                "scraped_at": moments(day, self._seconds(day, rows, repeated)),
                "available": pa.array(count.astype(np.int32), mask=field(words, 40, 6) == 0),
                "from_price": pa.array(from_price / 100, mask=count == 0),
                "available_foil": pa.array((count // 7).astype(np.int32), mask=~foil),
                "from_price_foil": pa.array(from_price * 3 / 100, mask=~foil | (count < 7)),
            }
        )

    def _seconds(self, day: int, rows: Integers, repeated: np.ndarray) -> Integers:
        """An expansion's pages are read in one go, thirty products a page, two seconds apart."""
        expansion = self._catalogue.expansion[rows]
        start = below(mix((expansion * 1009 + day).astype(np.uint64)), 0, SECONDS_A_DAY // 2)
        later = repeated * (rows % 2) * SECONDS_A_DAY // 4
        return start + rows // 30 * 2 % 10_000 + later
