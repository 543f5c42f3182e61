"""How prices move: a random walk about each product's own level; about 30 % move a day."""

import numpy as np

from generator.demo.draw import Integers, chance, draw, field

_MOVED_SHARE = 0.3
_PULL = 30  # thousandths of the way back to the product's own level
_CHEAPEST = 2


def _steps() -> Integers:
    """Thousandths by which a price moves, for each of 256 draws: mostly a little, sometimes up to 40 %."""
    draws = np.arange(-128, 128, dtype=np.int64)
    return np.sign(draws) * (5 + draws**4 // 680_000)


_STEPS = _steps()


class Walk:
    """The prices of one table, from day to day; a day that is not stepped through leaves them as they are.

    `cents`: the prices now. `version`: how many times each has moved. `moved`: which moved today.
    """

    def __init__(self, seed: int, stream: str, cents: Integers) -> None:
        self._seed, self._stream, self._level = seed, stream, np.maximum(cents, _CHEAPEST)
        self.cents = self._level.copy()
        self.version = np.zeros(len(cents), dtype=np.int64)
        self.moved = np.zeros(len(cents), dtype=bool)

    def step(self, day: int) -> np.ndarray:
        """Move to this day; returns the day's words, whose upper 24 bits are left for the table."""
        words = draw(self._seed, self._stream, len(self.cents), day)
        self.moved = chance(words, 0, _MOVED_SHARE)
        thousandths = self.cents * _STEPS[field(words, 16, 8)] + (self._level - self.cents) * _PULL
        # A random remainder: always rounding down would drag the cheap ones to the bottom.
        change = (thousandths + ((field(words, 24, 16) * 1000) >> 16)) // 1000
        self.cents = np.where(self.moved, np.maximum(self.cents + change, _CHEAPEST), self.cents)
        self.version += self.moved
        return words
