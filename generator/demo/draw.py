"""Random bits for the demo lake, the ways in which the tables read them, and Arrow columns made of them.

Everything is integer arithmetic on the raw words of PCG64, whose stream NumPy guarantees to be stable. (It does not
guarantee the distributions of `Generator`.) There are no floats, so every processor gives the same results.
"""

from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

# The place of a name is a part of its stream's key.
_STREAMS = ("expansions", "products", "price_guide", "listings", "filtered_checks", "watch_checks", "watch_times",
            "fingerprints", "identifiers")  # fmt: skip
MAX_SEED = 2**32 - 1  # one word of the seed sequence, so that no two (seed, stream, day) are alike
FIRST_DAY = date(2025, 11, 15)  # 90 days reach into February, so there are closed months and a closed year
SECONDS_A_DAY = 86_400
_FIRST_SECOND = int(datetime.combine(FIRST_DAY, datetime.min.time(), UTC).timestamp())

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


def words(seed: int, stream: str, count: int, day: int = -1) -> Words:
    """Return `count` random words of 64 bits for a stream and a day. Drawing from one stream never changes another."""
    return np.random.PCG64(np.random.SeedSequence((seed, _STREAMS.index(stream), day + 1))).random_raw(count)


def field(words: Words, at: int, width: int = 16) -> Integers:
    """Return the `width` bits that start at bit `at`."""
    return ((words >> np.uint64(at)) & np.uint64((1 << width) - 1)).astype(np.int64)


def below(words: Words, at: int, bound: int, width: int = 16) -> Integers:
    """Return integers in [0, bound) from the `width` bits at `at`. The bound is at most 2 ** width."""
    return np.asarray((field(words, at, width) * bound) >> width)


def chance(words: Words, at: int, share: float) -> Flags:
    """Return true for `share` of the words, by the 16 bits at `at`."""
    return np.asarray(field(words, at) < round(share * 65536))


def mix(words: Words | Integers) -> Words:
    """Return a hash of each word (the finaliser of splitmix64), for values that change only with their key."""
    words = words.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def heavy_tail(words: Words, top: int | Integers) -> Integers:
    """Return integers in [0, top), half of them below top / 32, by the first 12 bits. The top is below 2 ** 43."""
    return np.asarray((field(words, 0, 12) ** 5 >> 40) * top >> 20)


def by_weight(weights: list[int] | Integers, words: Words, at: int, width: int = 16) -> Integers:
    """Return an index into `weights` for each word, as often as its weight says, by the `width` bits at `at`."""
    edges = np.cumsum(weights)
    return np.searchsorted(edges, below(words, at, int(edges[-1]), width), side="right")


def timestamps(
    day: int | Integers, seconds: Integers, milliseconds: Integers | int = 0, mask: Flags | None = None
) -> pa.Array:
    """Return timestamps (UTC, without a zone) from seconds since midnight. They are null where `mask` is true."""
    micros = (_FIRST_SECOND + day * SECONDS_A_DAY + seconds) * 1_000_000 + milliseconds * 1000
    return pa.array(micros, pa.int64(), mask=mask).cast(pa.timestamp("us"))


def choose(texts: list[str], places: Integers, mask: Flags | None = None) -> pa.Array:
    """Return the texts at these places. They are null where `mask` is true."""
    return pa.array(texts, pa.string()).take(pa.array(places, mask=mask))


def pick(texts: list[str], words: Words, at: int, mask: Flags | None = None) -> pa.Array:
    """Return one of the texts for each word, by the 16 bits at `at`."""
    return choose(texts, below(words, at, len(texts)), mask)


def join(*parts: pa.Array | str) -> pa.Array:
    """Concatenate the parts of each row. A row is null if one of its parts is."""
    return pc.binary_join_element_wise(*parts, "")


def url_words(names: pa.Array) -> pa.Array:
    """Return names as in a marketplace's URLs: `Dr. Völk's Old Rope` becomes `Dr-Volks-Old-Rope`."""
    text = pc.replace_substring_regex(pc.fill_null(names, ""), r" *\[.*\]$", "")
    text = pc.replace_substring_regex(pc.utf8_normalize(text, "NFKD"), "[^0-9A-Za-z -]", "")
    text = pc.replace_substring_regex(pc.ascii_trim_whitespace(text), " +", "-")
    return pc.if_else(pc.equal(text, ""), "Unnamed", text)
