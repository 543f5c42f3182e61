"""Statistics of repeated measurements: medians with their spread, and ratios of values of the same round."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple


class Spread(NamedTuple):
    """A median between the lowest and the highest value measured."""

    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Return the spread of at least one value."""
    return Spread(median(values), min(values), max(values))


def ratios(above: Sequence[float], below: Sequence[float]) -> Spread:
    """Return the spread of the ratios of values of the same round, so that a slow round affects both values.

    Rounds that only one of the two has are left out.
    """
    return spread([a / b for a, b in zip(above, below, strict=False) if b] or [float("inf")])


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]
