"""How prices move: a random walk around each product's own level. About 30 % of the prices move each day."""

import numpy as np

from generator.demo.draw import Integers, Words, chance, draw, field

_MOVED_SHARE = 0.36  # 30 % in effect, because the cheapest prices have no room to move
_PULL_THOUSANDTHS = 30  # thousandths of the way back to the product's own level
_MIN_CENTS = 2


def _thousandths() -> Integers:
    """Return by how many thousandths a price moves, for each of 256 draws: mostly one, sometimes up to 35 %."""
    draws = np.arange(-128, 128, dtype=np.int64)
    thousandths: Integers = np.sign(draws) * (5 + abs(draws) ** 6 // 12_700_000_000)
    return thousandths


_MOVES = _thousandths()


class PriceWalk:
    """The prices of one table, from day to day. A day without a `step` leaves them unchanged.

    Attributes:
        cents: The prices now.
        version: How many times each price has moved.
        moved: Which prices moved today.
    """

    def __init__(self, seed: int, stream: str, cents: Integers) -> None:
        self._seed, self._stream, self._level = seed, stream, np.maximum(cents, _MIN_CENTS)
        self.cents: Integers = self._level.copy()
        self.version = np.zeros(len(cents), dtype=np.int64)
        self.moved = np.zeros(len(cents), dtype=bool)

    def step(self, day: int) -> Words:
        """Move to this day. Return the day's random words, whose upper 24 bits are free for the table."""
        words = draw(self._seed, self._stream, len(self.cents), day)
        self.moved = chance(words, 0, _MOVED_SHARE)
        thousandths = self.cents * _MOVES[field(words, 16, 8)] + (self._level - self.cents) * _PULL_THOUSANDTHS
        # A random remainder: rounding down every day would push cheap prices to the bottom.
        change = (thousandths + ((field(words, 24, 16) * 1000) >> 16)) // 1000
        self.cents = np.where(self.moved, np.maximum(self.cents + change, _MIN_CENTS), self.cents)
        self.version += self.moved
        return words
