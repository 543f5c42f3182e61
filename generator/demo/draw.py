"""Random bits for the demo lake, and the ways in which the tables read them.

Everything is integer arithmetic on the raw words of PCG64, whose stream NumPy guarantees to be stable. (It does not
guarantee the distributions of `Generator`.) There are no floats, so every processor gives the same results.
"""

import numpy as np
from numpy.typing import NDArray

_STREAMS = (
    "expansions",
    "products",
    "price_guide",
    "listings",
    "filtered_checks",
    "watch_checks",
    "watch_times",
    "fingerprints",
    "identifiers",
)
MAX_SEED = 2**32 - 1  # one word of the seed sequence, so that no two (seed, stream, day) are alike

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


def draw(seed: int, stream: str, count: int, day: int | None = None) -> Words:
    """Return `count` random words of 64 bits for one stream and day.

    Streams are independent: drawing from one never changes another.

    Args:
        day: Number of the day. None for data that does not change from day to day.
    """
    key = (seed, _STREAMS.index(stream), 0 if day is None else day + 1)
    return np.random.PCG64(np.random.SeedSequence(key)).random_raw(count)


def draw_rows(seed: int, stream: str, rows: int, count: int) -> Words:
    """Return a (rows, count) array of random words for data that does not change from day to day."""
    return draw(seed, stream, count * rows).reshape(rows, count)


def field(words: Words, at: int, width: int) -> Integers:
    """Return the `width` bits that start at bit `at`, as int64."""
    return ((words >> np.uint64(at)) & np.uint64((1 << width) - 1)).astype(np.int64)


def below(words: Words, at: int, bound: int) -> Integers:
    """Return integers in [0, bound) from the 16 bits at `at`. The bound is at most 65,536."""
    integers: Integers = (field(words, at, 16) * bound) >> 16
    return integers


def chance(words: Words, at: int, share: float) -> Flags:
    """Return true for `share` of the words, by the 16 bits at `at`."""
    flags: Flags = field(words, at, 16) < round(share * 65536)
    return flags


def millionths(words: Words) -> Integers:
    """Return integers in [0, 1,000,000) from the lower 32 bits."""
    integers: Integers = (field(words, 0, 32) * 1_000_000) >> 32
    return integers


def mix(words: Words) -> Words:
    """Return a hash of each word (the finaliser of splitmix64), for values that change only with their key."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def by_quantile(curve: list[tuple[int, int]], quantiles: Integers) -> Integers:
    """Return values on a curve of (quantile, value) points with straight lines between them, all integers."""
    known, values = np.array(curve, dtype=np.int64).T
    left = np.clip(np.searchsorted(known, quantiles, side="right") - 1, 0, len(curve) - 2)
    rise, width = values[left + 1] - values[left], known[left + 1] - known[left]
    on_curve: Integers = values[left] + rise * (quantiles - known[left]) // width
    return on_curve


def by_weight(weights: list[int], words: Words, at: int) -> Integers:
    """Return an index into `weights` for each word, as often as its weight says, by the 16 bits at `at`."""
    edges = np.cumsum(np.array(weights, dtype=np.int64))
    return np.searchsorted(edges, below(words, at, int(edges[-1])), side="right")


def recurs(day: int, rhythm: tuple[int, int]) -> bool:
    """Return whether a day (a number) is in a rhythm: every `rhythm[0]`th day, the first of them `rhythm[1]`."""
    return day % rhythm[0] == rhythm[1]
