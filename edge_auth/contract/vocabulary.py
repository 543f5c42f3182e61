"""Vocabulary format: the words of product names, searchable by substring, as Arrow files of the layer `catalogue`.

    words      a row per distinct word of the folded names, sorted: word, products (ordinals, ascending)
    suffixes   a row per suffix of a word, sorted by suffix: word (row in `words`), start (byte in the word)
    pieces     a row per frequent substring of one or two characters, sorted: piece, products (one bit each)

A word contains a text if one of its suffixes begins with the text. Suffixes that begin with the same text lie side by
side, so they are found by binary search. A text in very many names is slow to collect from lists of ordinals; such
texts are the short ones in `pieces`, and their products are stored as bits.
"""

from bisect import bisect_left, bisect_right

import numpy as np
import pyarrow as pa

from edge_auth.contract.index import only_chunk

WORDS, SUFFIXES, SUBSTRINGS = "words", "suffixes", "pieces"
_MAX_SUBSTRING_CHARACTERS = 2
_MIN_SUBSTRING_SHARE = 1 / 32  # of all products
_KEY_BYTES = 8


class Vocabulary:
    """The words of the product names of a build.

    Args:
        words, suffixes, substrings: The three tables.
        products: Number of products in the catalogue.
    """

    def __init__(self, words: pa.Table, suffixes: pa.Table, substrings: pa.Table, products: int):
        self._count = products
        self._products = _ListColumn(only_chunk(words, "products"))
        _, offsets, text = only_chunk(words, "word").buffers()
        ends = np.frombuffer(offsets or b"", np.int32)
        self._text = memoryview(text or b"")
        self._word, start = (only_chunk(suffixes, name).to_numpy() for name in ("word", "start"))
        self._starts, self._ends = ends[self._word] + start, ends[1:][self._word]
        self._keys = prefix_keys(np.frombuffer(self._text, np.uint8), self._starts, self._ends)
        masks = only_chunk(substrings, "products")
        self._substrings = dict(zip(substrings["piece"].to_pylist(), masks, strict=True))

    def mask(self, text: str) -> np.ndarray:
        """Return which products have a name with a word that contains a folded text: bool, by ordinal."""
        if text in self._substrings:
            return _unpack(self._substrings[text], self._count)
        mask = np.zeros(self._count, bool)
        mask[self._products.values(self._word[self._suffixes_with(text.encode())])] = True
        return mask

    def _suffixes_with(self, prefix: bytes) -> slice:
        """Return the range of the suffixes that begin with these bytes."""
        head = prefix[:_KEY_BYTES]
        low, high = (np.uint64(int.from_bytes(head.ljust(_KEY_BYTES, filler), "big")) for filler in (b"\0", b"\xff"))
        first, last = int(np.searchsorted(self._keys, low)), int(np.searchsorted(self._keys, high, "right"))
        if len(prefix) > _KEY_BYTES or 0 in prefix:  # several prefixes share these keys: compare the text
            rows = range(len(self._word))
            first = bisect_left(rows, prefix, first, last, key=lambda row: self._suffix(row, len(prefix)))
            last = bisect_right(rows, prefix, first, last, key=lambda row: self._suffix(row, len(prefix)))
        return slice(first, last)

    def _suffix(self, row: int, length: int) -> bytes:
        """Return the first `length` bytes of a suffix."""
        start = self._starts[row]
        return bytes(self._text[start : min(self._ends[row], start + length)])


class _ListColumn:
    """A column of lists of integers."""

    def __init__(self, lists: pa.Array):
        self._offsets = lists.offsets.to_numpy()
        self._values = lists.values.to_numpy()

    def values(self, rows: np.ndarray) -> np.ndarray:
        """Return the concatenated lists of some rows."""
        starts = self._offsets[rows]
        lengths = self._offsets[rows + 1] - starts
        before = np.cumsum(lengths) - lengths
        found: np.ndarray = self._values[np.repeat(starts - before, lengths) + np.arange(lengths.sum())]
        return found


def prefix_keys(text: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the first 8 bytes of each suffix as a big-endian uint64, padded with zeros.

    The keys of sorted suffixes are sorted.

    Args:
        text: The bytes of all words.
        starts, ends: The range of each suffix in the text.
    """
    keys = np.zeros(len(starts), np.uint64)
    for byte in range(_KEY_BYTES):
        positions = starts + byte
        values = text.take(positions, mode="clip") if len(text) else np.zeros(0, np.uint8)
        keys = keys << np.uint64(8) | np.where(positions < ends, values, 0).astype(np.uint64)
    return keys


def suffix_table(words: pa.Array) -> pa.Table:
    """Return the table `suffixes` of the distinct words."""
    suffixes = []
    for row, word in enumerate(words.to_pylist()):
        data = word.encode()
        starts = (byte for byte, value in enumerate(data) if value & 0xC0 != 0x80)  # first bytes of characters
        suffixes += [(data[start:], row, start) for start in starts]
    suffixes.sort()
    columns = {"word": [row for _, row, _ in suffixes], "start": [start for _, _, start in suffixes]}
    return pa.table({name: pa.array(values, pa.uint32()) for name, values in columns.items()})


def substring_table(words: pa.Table, suffixes: pa.Table, products: int) -> pa.Table:
    """Return the table `pieces` of a vocabulary of `products` products."""
    vocabulary = Vocabulary(words, suffixes, _substring_rows({}), products)
    uses: dict[str, int] = {}
    lengths = words["products"].combine_chunks().value_lengths().to_pylist() if len(words) else []
    for word, used in zip(words["word"].to_pylist(), lengths, strict=True):
        for substring in _substrings(word):
            uses[substring] = uses.get(substring, 0) + used
    # A product that has two words with the substring counts twice here, so the masks are counted again.
    threshold = products * _MIN_SUBSTRING_SHARE
    masks = {substring: vocabulary.mask(substring) for substring in sorted(uses) if uses[substring] >= threshold}
    return _substring_rows({substring: mask for substring, mask in masks.items() if mask.sum() >= threshold})


def _substrings(word: str) -> set[str]:
    lengths = range(1, _MAX_SUBSTRING_CHARACTERS + 1)
    return {word[start : start + length] for length in lengths for start in range(len(word) - length + 1)}


def _substring_rows(masks: dict[str, np.ndarray]) -> pa.Table:
    bits = [np.packbits(mask).tobytes() for mask in masks.values()]
    return pa.table({"piece": pa.array(masks, pa.string()), "products": pa.array(bits, pa.large_binary())})


def _unpack(bits: pa.Scalar, count: int) -> np.ndarray:
    return np.unpackbits(np.frombuffer(bits.as_buffer(), np.uint8), count=count).view(bool)
