"""The table `price_guide`: one row per product and day, with the holes and absurdities of a real guide.

Every 29th day is missing, on every 19th the guide was not made anew and repeats the day before. About 30 % of
the rows differ from one day to the next.
"""

import numpy as np
import pyarrow as pa

from generator.demo.draw import Integers, below, chance, draw, falls, field
from generator.demo.products import Catalogue
from generator.demo.walk import Walk

_MISSING, _STALE = (29, 17), (19, 7)
_ABSENT_SHARE = 0.01
_COLUMNS = ["low", "avg", "trend", "avg1", "avg7", "avg30"]
_NULL_SHARES = [0.08, 0.18, 0.12, 0.16, 0.16, 0.16, 0.05, 0.35, 0.03, 0.2, 0.12, 0.08]
_HOLO_SHARE = 0.3
_JOKES = np.array([420_00, 999_999_99, 100_000_00, 123_456_78, 9_999_99, 69_420_00, 1_234_567_89], dtype=np.int64)


class PriceGuide:
    """Makes the table day by day; `day` must be called for every day from 0 on."""

    def __init__(self, seed: int, catalogue: Catalogue) -> None:
        words = draw(seed, "price_guide", len(catalogue.ids), sheets=6)
        self._ids, self._starts = catalogue.ids, catalogue.starts
        self._walk = Walk(seed, "price_guide", catalogue.cents)
        self._listed = ~chance(words[0], 0, _ABSENT_SHARE)
        self._low_share = 300 + below(words[0], 16, 700) + chance(words[0], 32, 0.08) * 700
        self._holo_share = 1100 + below(words[0], 48, 4000)
        self._joke = np.where(chance(words[1], 0, 0.003), _JOKES[below(words[1], 16, len(_JOKES))], 0)
        self._worthless = chance(words[1], 32, 0.004)
        self._half_cents = chance(words[1], 48, 0.01)
        self._nulls = _null_bits(words[2:5], words[5], catalogue.is_sealed)
        self._low = self._low_now()
        self._avg7, self._avg30 = self._walk.cents.copy(), self._walk.cents.copy()

    def day(self, day: int) -> pa.Table | None:
        """The guide of one day; None where the day is missing."""
        if not falls(day, _STALE):
            self._move(day)
        if falls(day, _MISSING):
            return None
        rows = np.flatnonzero(self._listed & (self._starts <= day))
        return pa.table({"id_product": self._ids[rows], **self._prices(rows)})

    def _move(self, day: int) -> None:
        words = self._walk.step(day)
        moved, cents = self._walk.moved, self._walk.cents
        self._low = np.where(moved & (field(words, 40, 2) == 0), self._low_now(), self._low)
        self._avg7 += np.where(moved, (cents - self._avg7) // 3, 0)
        self._avg30 += np.where(moved, (cents - self._avg30) // 10, 0)
        flip = moved & (field(words, 42, 9) == 0)  # a price appears or vanishes
        self._nulls ^= np.where(flip, 1 << (field(words, 51, 8) * 12 >> 8), 0)

    def _low_now(self) -> Integers:
        return np.maximum(2, self._walk.cents * self._low_share // 1000)

    def _prices(self, rows: np.ndarray) -> dict[str, pa.Array]:
        trend, low = self._walk.cents[rows], self._low[rows]
        avg7, avg30 = self._avg7[rows], self._avg30[rows]
        joke, holo = self._joke[rows], self._holo_share[rows]
        avg1 = np.maximum(1, trend * (900 + self._walk.version[rows] * 37 % 200) // 1000)
        plain = [np.where(joke > 0, joke, low), (avg7 + avg1 + 1) // 2, trend, avg1, avg7, avg30]
        held = [price * 10 for price in plain + [price * holo // 1000 for price in plain]]
        held[2][self._worthless[rows]] = 0
        held[5] += 5 * self._half_cents[rows]
        names = _COLUMNS + [name + "_holo" for name in _COLUMNS]
        nulls = self._nulls[rows]
        return {
            name: pa.array(tenths / 1000, mask=(nulls >> place) & 1 == 1)
            for place, (name, tenths) in enumerate(zip(names, held, strict=True))
        }


def _null_bits(words: np.ndarray, holo: np.ndarray, sealed: np.ndarray) -> Integers:
    """Twelve bits per product, one per column: which prices the guide does not know.

    `words`: three sheets, for four columns each. Sealed products have no daily averages.
    """
    bits = np.zeros(len(sealed), dtype=np.int64)
    for place, share in enumerate(_NULL_SHARES):
        bits |= chance(words[place // 4], 16 * (place % 4), share) << np.int64(place)
    bits |= np.where(chance(holo, 0, _HOLO_SHARE) & ~sealed, 0, 0b111111_000000)
    bits |= np.where(chance(holo, 16, 0.02), 0b111111_111111, 0)
    return bits | np.where(sealed, 0b000000_111000, 0)
