"""The table `price_guide`: one row per product and day, with the gaps of a real guide; `low` is never above the trend.

Every 29th day is missing, and every 19th repeats the day before. Otherwise about 30 % of the rows differ from those of
the day before.
"""

import numpy as np
import pyarrow as pa

from generator.demo.draw import Flags, Integers, Words, below, chance, draw_rows, field, recurs
from generator.demo.price_walk import PriceWalk
from generator.demo.products import DemoCatalogue
from generator.lake.files import PRICE_FIGURES

_MISSING, _STALE = (29, 17), (19, 7)
_ABSENT_SHARE = 0.01
_COLUMNS = (*PRICE_FIGURES, *(f"{figure}_holo" for figure in PRICE_FIGURES))
_TREND, _AVG30 = _COLUMNS.index("trend"), _COLUMNS.index("avg30")
_NULL_SHARES = [0.08, 0.18, 0.12, 0.16, 0.16, 0.16, 0.05, 0.35, 0.03, 0.2, 0.12, 0.08]
_HOLO_SHARE = 0.3


class PriceGuide:
    """Makes the table day by day. `day` must be called for every day from 0 on."""

    def __init__(self, seed: int, catalogue: DemoCatalogue) -> None:
        words = draw_rows(seed, "price_guide", 6, len(catalogue.ids))
        self._ids, self._starts = catalogue.ids, catalogue.starts
        self._walk = PriceWalk(seed, "price_guide", catalogue.cents)
        self._listed = ~chance(words[0], 0, _ABSENT_SHARE)
        self._low_share = 550 + below(words[0], 16, 400)
        self._holo_share = 1100 + below(words[0], 48, 4000)
        self._worthless = chance(words[1], 32, 0.004)
        self._half_cents = chance(words[1], 48, 0.01)
        self._nulls = _null_bits(words[2:5], words[5], catalogue.is_sealed)
        self._low = self._low_now()
        self._avg7, self._avg30 = self._walk.cents.copy(), self._walk.cents.copy()

    def day(self, day: int) -> pa.Table | None:
        """Return the guide of one day, or None if the day is missing."""
        if not recurs(day, _STALE):
            self._move(day)
        if recurs(day, _MISSING):
            return None
        rows = np.flatnonzero(self._listed & (self._starts <= day))
        return pa.table({"id_product": self._ids[rows], **self._prices(rows)})

    def _move(self, day: int) -> None:
        words = self._walk.step(day)
        moved, cents = self._walk.moved, self._walk.cents
        self._low = np.where(moved & (field(words, 40, 2) == 0), self._low_now(), self._low)
        self._avg7 += np.where(moved, (cents - self._avg7) // 3, 0)
        self._avg30 += np.where(moved, (cents - self._avg30) // 10, 0)
        flip = moved & (field(words, 42, 9) == 0)  # a price appears or disappears
        self._nulls ^= np.where(flip, 1 << (field(words, 51, 8) * 12 >> 8), 0)

    def _low_now(self) -> Integers:
        cents: Integers = np.maximum(2, self._walk.cents * self._low_share // 1000)
        return cents

    def _prices(self, rows: Integers) -> dict[str, pa.Array]:
        trend = self._walk.cents[rows]
        low = np.minimum(self._low[rows], trend)
        avg7, avg30 = self._avg7[rows], self._avg30[rows]
        holo = self._holo_share[rows]
        avg1 = np.maximum(1, trend * (900 + self._walk.version[rows] * 37 % 200) // 1000)
        plain = [low, (avg7 + avg1 + 1) // 2, trend, avg1, avg7, avg30]
        tenths = [price * 10 for price in plain + [price * holo // 1000 for price in plain]]  # tenths of a cent
        tenths[_TREND][self._worthless[rows]] = 0
        tenths[_AVG30] += 5 * self._half_cents[rows]
        nulls = self._nulls[rows]
        return {
            name: pa.array(prices / 1000, mask=(nulls >> place) & 1 == 1)
            for place, (name, prices) in enumerate(zip(_COLUMNS, tenths, strict=True))
        }


def _null_bits(words: Words, holo: Words, sealed: Flags) -> Integers:
    """Return twelve bits per product, one per column: which prices are null. Sealed products lack some averages.

    Args:
        words: (3, products), each row for four columns.
    """
    bits = np.zeros(len(sealed), dtype=np.int64)
    for place, share in enumerate(_NULL_SHARES):
        bits |= chance(words[place // 4], 16 * (place % 4), share) << np.int64(place)
    bits |= np.where(chance(holo, 0, _HOLO_SHARE) & ~sealed, 0, 0b111111_000000)
    bits |= np.where(chance(holo, 16, 0.02), 0b111111_111111, 0)
    bits |= np.where(sealed, 0b000000_111000, 0)
    return bits
