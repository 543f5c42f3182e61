"""Vocabulary format: the words of product names, searchable by substring, as Arrow files of the layer `catalogue`.

    words      a row per distinct word of the folded names, sorted: word, products (ordinals, ascending)
    suffixes   a row per suffix of a word, sorted by suffix: word (row in `words`), start (byte in the word), and
               at_start (whether a reader's word starts there: at the beginning, or after a character that is neither a
               letter nor a digit)
    pieces     a row per frequent substring of one or two characters, sorted: piece, products (one bit each), and starts
               (the same for the products that have the substring at such a start)

A word contains a text if one of its suffixes begins with the text. Suffixes that begin with the same text lie side by
side, so they are found by binary search. A text in very many names is slow to collect from lists of ordinals; such
texts are the short ones in `pieces`, and their products are stored as bits. An index that an older version made has
neither `at_start` nor `starts`.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from edge_auth.builds.index import only_chunk
from edge_auth.builds.sorted_texts import SortedTexts, text_column

WORDS, SUFFIXES, SUBSTRINGS = "words", "suffixes", "pieces"
_MAX_SUBSTRING_CHARACTERS = 2
_MIN_SUBSTRING_SHARE = 1 / 32  # of all products
_MAX_FEW_SHARE = 1 / 16  # of all products


class Vocabulary:
    """The words of the product names of a build.

    Args:
        words, suffixes, substrings: The three tables.
        products: Number of products in the catalogue.
    """

    def __init__(self, words: pa.Table, suffixes: pa.Table, substrings: pa.Table, products: int):
        self._count = products
        self._products = _ListColumn(only_chunk(words, "products"))
        text, ends = text_column(only_chunk(words, "word"))
        self._word, start = (only_chunk(suffixes, name).to_numpy() for name in ("word", "start"))
        self._suffixes = SortedTexts(text, ends[self._word] + start, ends[1:][self._word])
        self._substrings = _by_substring(substrings, "products")
        if "at_start" in suffixes.column_names:
            self._at_start = only_chunk(suffixes, "at_start").to_numpy(zero_copy_only=False)
            self._substrings_at_start = _by_substring(substrings, "starts")

    @property
    def letters(self) -> list[str]:
        """The characters that occur in very many names."""
        return [substring for substring in self._substrings if len(substring) == 1]

    def mask(self, text: str) -> np.ndarray:
        """Return which products have a name with a word that contains a folded text: bool, by ordinal."""
        if text in self._substrings:
            return _unpack(self._substrings[text], self._count)
        return self._mask_of(self._word[self._suffixes.beginning_with(text.encode())])

    def few_products(self, text: str) -> np.ndarray | None:
        """Return the products that `mask` would return, as ordinals in any order. None if they may be many."""
        if text in self._substrings:
            return None
        words = self._word[self._suffixes.beginning_with(text.encode())]
        if self._products.length(words) > self._count * _MAX_FEW_SHARE:
            return None
        products = np.sort(self._products.values(words))
        return products[np.flatnonzero(np.diff(products, prepend=-1))]

    def start_mask(self, text: str) -> np.ndarray | bool:
        """Return which products of `mask` have a name in which a word starts with a folded text: bool, by ordinal.

        A single True stands for all of them, False for none.
        """
        if text in self._substrings:
            return _unpack(self._substrings_at_start[text], self._count)
        found = self._suffixes.beginning_with(text.encode())
        at_start = self._at_start[found]
        if at_start.all():
            return True
        return bool(at_start.any()) and self._mask_of(self._word[found].compress(at_start))

    def _mask_of(self, words: np.ndarray) -> np.ndarray:
        mask = np.zeros(self._count, bool)
        if len(words):
            mask[self._products.values(words).astype(np.intp)] = True
        return mask


class _ListColumn:
    """A column of lists of integers."""

    def __init__(self, lists: pa.Array):
        self._offsets = lists.offsets.to_numpy()
        self._values = lists.values.to_numpy()

    def length(self, rows: np.ndarray) -> int:
        """Return the number of values in the lists of some rows."""
        return int((self._offsets[rows + 1] - self._offsets[rows]).sum())

    def values(self, rows: np.ndarray) -> np.ndarray:
        """Return the concatenated lists of some rows."""
        starts = self._offsets[rows]
        lengths = self._offsets[rows + 1] - starts
        before = np.cumsum(lengths) - lengths
        found: np.ndarray = self._values[np.repeat(starts - before, lengths) + np.arange(lengths.sum())]
        return found


def suffix_table(words: pa.Array) -> pa.Table:
    """Return the table `suffixes` of the distinct words."""
    suffixes = []
    for row, word in enumerate(words.to_pylist()):
        data, start, at_start = word.encode(), 0, True
        for char in word:
            suffixes.append((data[start:], row, start, at_start))
            start, at_start = start + len(char.encode()), not char.isalnum()
    suffixes.sort()
    types = {"word": pa.uint32(), "start": pa.uint32(), "at_start": pa.bool_()}
    columns = ([suffix[place] for suffix in suffixes] for place in range(1, 1 + len(types)))
    return pa.table({name: pa.array(values, types[name]) for name, values in zip(types, columns, strict=True)})


def substring_table(words: pa.Table, suffixes: pa.Table, products: int) -> pa.Table:
    """Return the table `pieces` of a vocabulary of `products` products."""
    vocabulary = Vocabulary(words, suffixes, _substring_rows([], [], []), products)
    uses: dict[str, int] = {}
    lengths = words["products"].combine_chunks().value_lengths().to_pylist() if len(words) else []
    for word, used in zip(words["word"].to_pylist(), lengths, strict=True):
        for substring in _substrings(word):
            uses[substring] = uses.get(substring, 0) + used
    # A product that has two words with the substring counts twice here, so the masks are counted again.
    threshold = products * _MIN_SUBSTRING_SHARE
    masks = {substring: vocabulary.mask(substring) for substring in sorted(uses) if uses[substring] >= threshold}
    frequent = [substring for substring, mask in masks.items() if mask.sum() >= threshold]
    starts = (masks[substring] & vocabulary.start_mask(substring) for substring in frequent)
    return _substring_rows(frequent, (masks[substring] for substring in frequent), starts)


def _substrings(word: str) -> set[str]:
    lengths = range(1, _MAX_SUBSTRING_CHARACTERS + 1)
    return {word[start : start + length] for length in lengths for start in range(len(word) - length + 1)}


def _substring_rows(substrings: list[str], products: Iterable[np.ndarray], starts: Iterable[np.ndarray]) -> pa.Table:
    return pa.table(
        {"piece": pa.array(substrings, pa.string()), "products": _packed(products), "starts": _packed(starts)}
    )


def _packed(masks: Iterable[np.ndarray]) -> pa.Array:
    return pa.array([np.packbits(mask).tobytes() for mask in masks], pa.large_binary())


def _by_substring(substrings: pa.Table, column: str) -> dict[str, pa.Scalar]:
    return dict(zip(substrings["piece"].to_pylist(), only_chunk(substrings, column), strict=True))


def _unpack(bits: pa.Scalar, count: int) -> np.ndarray:
    return np.unpackbits(np.frombuffer(bits.as_buffer(), np.uint8), count=count).view(bool)
