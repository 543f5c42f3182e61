"""The table `listings`: the rows of the expansions' list pages. Each expansion is read every third day."""

import numpy as np
import pyarrow as pa

from generator.demo.columns import SECONDS_A_DAY, timestamps
from generator.demo.draw import (
    Flags,
    Integers,
    Words,
    below,
    by_quantile,
    chance,
    draw_rows,
    field,
    millionths,
    mix,
    recurs,
)
from generator.demo.price_walk import PriceWalk
from generator.demo.products import DemoCatalogue

_MISSING = (43, 12)
_EVERY_DAYS = 3
_AVAILABLE_CURVE = [(0, 0), (60_000, 1), (500_000, 25), (900_000, 400), (990_000, 2_500), (1_000_000, 40_000)]


class Listings:
    """Makes the table day by day. `day` must be called for every day from 0 on."""

    def __init__(self, seed: int, catalogue: DemoCatalogue) -> None:
        words = draw_rows(seed, "listings", 2, len(catalogue.ids))
        self._catalogue = catalogue
        self._walk = PriceWalk(seed, "listings", catalogue.cents * (300 + below(words[0], 0, 600)) // 1000)
        self._unlisted = chance(words[0], 16, 0.03)
        self._has_foil = chance(words[0], 32, 0.25) & ~catalogue.is_sealed
        self._available = by_quantile(_AVAILABLE_CURVE, millionths(words[1]))

    def day(self, day: int) -> pa.Table | None:
        """Return the rows of the pages read on one day, or None if there were none."""
        words = self._walk.step(day)
        due = (self._catalogue.expansion + day) % _EVERY_DAYS == 0
        rows = np.flatnonzero(due & ~self._unlisted)
        if recurs(day, _MISSING) or not len(rows):
            return None
        # Some are on a page that is read twice: hours later, or within the same second.
        again = rows[field(words[rows], 56, 8) == 0]
        return self._table(day, np.concatenate([rows, again]), len(rows), words)

    def _table(self, day: int, rows: Integers, first: int, words: Words) -> pa.Table:
        repeated = np.arange(len(rows)) >= first
        words = words[rows]
        count = self._available[rows] * (90 + below(words, 40, 20)) // 100 + repeated
        from_price, foil = self._walk.cents[rows], self._has_foil[rows]
        return pa.table(
            {
                "id_product": self._catalogue.ids[rows],
                "scraped_at": timestamps(day, self._seconds(day, rows, repeated)),
                "available": pa.array(count.astype(np.int32), mask=field(words, 40, 6) == 0),
                "from_price": pa.array(from_price / 100, mask=count == 0),
                "available_foil": pa.array((count // 7).astype(np.int32), mask=~foil),
                "from_price_foil": pa.array(from_price * 3 / 100, mask=~foil | (count < 7)),
            }
        )

    def _seconds(self, day: int, rows: Integers, repeated: Flags) -> Integers:
        """Return when rows were read: an expansion's pages in sequence, thirty products a page, two seconds apart."""
        expansion = self._catalogue.expansion[rows]
        start = below(mix((expansion * 1009 + day).astype(np.uint64)), 0, SECONDS_A_DAY // 2)
        later = repeated * (rows % 2) * SECONDS_A_DAY // 4
        seconds: Integers = start + rows // 30 * 2 % 10_000 + later
        return seconds
