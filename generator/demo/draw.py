"""Random bits for the demo lake, and the few ways in which the tables read them.

Everything is integer arithmetic on the raw words of PCG64, whose stream NumPy keeps stable for good (that of
`Generator`'s distributions it does not). No float is involved, so no processor can round differently.
"""

import numpy as np

_STREAMS = (
    "expansions",
    "products",
    "price_guide",
    "listings",
    "filtered_checks",
    "watch_checks",
    "watch_times",
    "fingerprints",
)
SEED_MAX = 2**32 - 1  # one word of the seed sequence, so that no two (seed, stream, day) are alike

Words = np.ndarray  # uint64
Integers = np.ndarray  # int64


def draw(seed: int, stream: str, count: int, day: int | None = None, sheets: int = 1) -> Words:
    """`count` random words of 64 bits for one table and day (None: what does not change from day to day).

    With `sheets` > 1 an array of (sheets, count). Streams are independent: a table never shifts another's.
    """
    key = (seed, _STREAMS.index(stream), 0 if day is None else day + 1)
    words = np.random.PCG64(np.random.SeedSequence(key)).random_raw(count * sheets)
    return words.reshape(sheets, count) if sheets > 1 else words


def field(words: Words, at: int, width: int) -> Integers:
    """The `width` bits that start at bit `at`, as int64."""
    return ((words >> np.uint64(at)) & np.uint64((1 << width) - 1)).astype(np.int64)


def below(words: Words, at: int, bound: int) -> Integers:
    """An integer in [0, bound) from the 16 bits at `at`; bound up to 65,536."""
    return (field(words, at, 16) * bound) >> 16


def chance(words: Words, at: int, share: float) -> np.ndarray:
    """True for `share` of the words, by the 16 bits at `at`."""
    return field(words, at, 16) < round(share * 65536)


def mix(words: Words) -> Words:
    """A hash of each word (the finaliser of splitmix64), for what must not change while its key does not."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def by_quantile(points: list[tuple[int, int]], where: Integers) -> Integers:
    """Values along a curve of (quantile, value) points with straight lines between, all integers."""
    quantiles, values = np.array(points, dtype=np.int64).T
    left = np.clip(np.searchsorted(quantiles, where, side="right") - 1, 0, len(points) - 2)
    rise, run = values[left + 1] - values[left], quantiles[left + 1] - quantiles[left]
    return values[left] + rise * (where - quantiles[left]) // run


def by_weight(weights: list[int], words: Words, at: int) -> Integers:
    """An index into `weights` for each word, as often as its weight says, by the 16 bits at `at`."""
    edges = np.cumsum(np.array(weights, dtype=np.int64))
    return np.searchsorted(edges, below(words, at, int(edges[-1])), side="right")


def falls(day: int, rhythm: tuple[int, int]) -> bool:
    """Whether day (a number) is one of every `rhythm[0]`th, the first of which is day `rhythm[1]`."""
    return day % rhythm[0] == rhythm[1]
