"""Vocabulary format: the words of product names, searchable by substring, and the names, as files of the catalogue.

    words      a row per distinct word of the names of products and sets, sorted: word, products (with it in the name:
               ordinals, ascending), and sets (with it in the name: rows of the table of sets). Runs of signs of a
               product's name are words too (`text.sign_text`): no text of letters is part of one, and other
               words have no signs
    suffixes   a row per suffix of a word, sorted by suffix: word (row in `words`), and start (byte in the word)
    pieces     a row per frequent substring of one or two characters of products' names, sorted: piece, products (one
               bit each), starts (the same for the products with a word that begins with it), and with_sets (the same
               for those that have it in their name or in the name of their set)
    names      a row per text that stands for names, sorted: text, and the ordinals of the products whose whole, base or
               short name or front face it is (`WAYS`), the cheapest first. The text is the words of the name, joined
               by single spaces, or the fold of a name without words. The first text is '', which is only a whole
               name. Also entry (what /cards/named says after the name), key (the CRC-32 of the texts, sorted) and
               by_key (the rows in the order of their keys)

A word contains a text if one of its suffixes begins with the text. Suffixes that begin with the same text lie side by
side, so they are found by binary search. A text in very many names is slow to collect from lists of ordinals; such
texts are the short ones in `pieces`, and their products are stored as bits.
"""

import itertools
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from zlib import crc32

import numpy as np
import pyarrow as pa

from generator.storage.layers import only_chunk, text_column
from generator.storage.spellings import Spellings

WORDS, SUFFIXES, SUBSTRINGS, NAMES = "words", "suffixes", "pieces", "names"
WAYS = ("whole", "base", "short", "face")  # how a text stands for names: columns of `names`, the nearest first
_MASKS = ("products", "starts", "with_sets")  # columns of `pieces`
_KEY_BYTES = 8
_LEAST_APART = 2  # characters of a word that was written together with another one
_MIN_SUBSTRING_SHARE = 1 / 32  # of all products


class Vocabulary:
    """The words of the names of a build's products and sets. `products` is the number of products."""

    def __init__(
        self, words: pa.Table, suffixes: pa.Table, substrings: pa.Table, set_starts: np.ndarray, products: int
    ):
        self._count, self._set_starts = products, set_starts
        self._products, self._sets = Lists.of_column(words, "products"), Lists.of_column(words, "sets")
        text, self._ends = text_column(words, "word")
        self._text = text
        self._word, start = (only_chunk(suffixes, name).to_numpy() for name in ("word", "start"))
        self._words = SortedTexts(text, self._ends[:-1], self._ends[1:])
        self._suffixes = SortedTexts(text, self._ends[self._word] + start, self._ends[1:][self._word])
        self._at_start = start == 0
        masks = zip(*(only_chunk(substrings, name) for name in _MASKS), strict=True)
        self._substrings = dict(zip(substrings["piece"].to_pylist(), masks, strict=True))

    def mask(self, text: str, *, with_sets: bool = False) -> np.ndarray:
        """Return which products have a word that contains a folded text in their name, or in that of their set."""
        if text in self._substrings:
            return self._stored(text, _MASKS.index("with_sets" if with_sets else "products"))
        words = self._words_with(text)
        mask = self._mask_of(words)
        starts = self._set_starts
        for row in set(self._sets.values(words).tolist()) if with_sets else ():
            mask[starts[row] : starts[row + 1]] = True
        return mask

    def word_mask(self, word: str) -> np.ndarray:
        """Return which products have a whole word in their name: bool, by ordinal."""
        return self._mask_of(self._rows(word))

    def is_word(self, text: str) -> bool:
        """Return whether a text is a whole word of a name of a product or a set."""
        return len(self._rows(text)) > 0

    def _rows(self, word: str) -> np.ndarray:
        """Return the row of a whole word, if there is one."""
        text = word.encode()
        found = self._words.beginning_with(text)
        is_word = found.start < found.stop and self._ends[found.start + 1] - self._ends[found.start] == len(text)
        return np.arange(found.start, found.start + is_word)

    def holds(self, text: str, *, with_sets: bool) -> bool:
        """Return whether a folded text is a part of a word in any name of a product, or of a set."""
        words = self._words_with(text)
        return bool(self._products.lengths(words).any() or (with_sets and self._sets.lengths(words).any()))

    def meant(self, text: str, most: int) -> list[str]:
        """Return what a folded text may mean that no name holds: two words, or the words that are spelled alike."""
        halves = [(text[:at], text[at:]) for at in range(_LEAST_APART, len(text) - _LEAST_APART + 1)]
        apart = [" ".join(pair) for pair in halves if all(map(self.is_word, pair))]
        rows, ends = self._spellings.nearest(text, most), self._ends
        return apart + [self._text[ends[row] : ends[row + 1]].tobytes().decode() for row in rows]

    @cached_property
    def _spellings(self) -> Spellings:
        products = self._products.lengths(np.arange(len(self._ends) - 1))
        return Spellings(self._text, self._ends[:-1], self._ends[1:], products)

    def _words_with(self, text: str) -> np.ndarray:
        words: np.ndarray = self._word[self._suffixes.beginning_with(text.encode())]
        return words

    def start_mask(self, text: str) -> np.ndarray:
        """Return which products have a name in which a word begins with a folded text: bool, by ordinal."""
        if text in self._substrings:
            return self._stored(text, _MASKS.index("starts"))
        found = self._suffixes.beginning_with(text.encode())
        return self._mask_of(self._word[found].compress(self._at_start[found]))

    def _stored(self, text: str, mask: int) -> np.ndarray:
        bits = np.frombuffer(self._substrings[text][mask].as_buffer(), np.uint8)
        return np.unpackbits(bits, count=self._count).view(bool)

    def _mask_of(self, words: np.ndarray) -> np.ndarray:
        mask = np.zeros(self._count, bool)
        mask[self._products.values(words).astype(np.intp)] = True
        return mask


class Names:
    def __init__(self, table: pa.Table):
        text, self._ends = text_column(table, "text")
        self._texts = SortedTexts(text, self._ends[:-1], self._ends[1:])
        self._text = text.data
        self.ways = [Lists.of_column(table, way) for way in WAYS]
        self.whole, self.base, *_ = self.ways
        self._keys, self._by_key = (only_chunk(table, name).to_numpy() for name in ("key", "by_key"))
        entries, self._entry_ends = text_column(table, "entry")
        self._entries = entries.data

    def __len__(self) -> int:
        return len(self._keys)

    def rows(self, texts: Sequence[bytes]) -> list[int | None]:
        """Return the row of each text in UTF-8, None for one that stands for no name. All are searched at once."""
        if not len(self._keys):
            return [None] * len(texts)
        places = self._keys.searchsorted(np.fromiter(map(crc32, texts), np.uint32, len(texts)))
        likely = self._by_key.take(places, mode="clip")  # the first row with the key, nearly always the only one
        bounds = (self._ends.take(likely + more).tolist() for more in (0, 1))
        rows, text_of = likely.tolist(), self._text
        return [
            row if text_of[start:end].tobytes() == text else self._row_of(text, place)
            for row, text, start, end, place in zip(rows, texts, *bounds, places.tolist(), strict=True)
        ]

    def _row_of(self, text: bytes, place: int) -> int | None:
        """Return the row of a text whose key is the first at a place of the sorted keys, None if there is none."""
        key = crc32(text)
        same = itertools.takewhile(lambda at: self._keys[at] == key, range(place, len(self._keys)))
        rows = (int(self._by_key[at]) for at in same)
        return next((row for row in rows if bytes(self._text[self._ends[row] : self._ends[row + 1]]) == text), None)

    def entries(self, rows: Sequence[int | None]) -> list[bytes | memoryview]:
        """Return what /cards/named says of some texts, as JSON without the opening brace; b"" for one without a row."""
        known = np.array([row for row in rows if row is not None], np.intp)
        text, bounds = self._entries, (self._entry_ends.take(known + more).tolist() for more in (0, 1))
        found = iter([text[start:end] for start, end in zip(*bounds, strict=True)])
        return [b"" if row is None else next(found) for row in rows]

    def text(self, row: int) -> str:
        return str(self._text[self._ends[row] : self._ends[row + 1]], "utf-8")

    def like(self, text: str) -> tuple[range, range, range]:
        """Return the rows of a text of words, those that go on with a word, and those that go on within its last."""
        found = self._texts.beginning_with(text.encode())
        words_from = found.start + int(found.start < found.stop and self.text(found.start) == text)
        words_to = self._texts.beginning_with(f"{text} ".encode()).stop
        return range(found.start, words_from), range(words_from, words_to), range(words_to, found.stop)


class Lists:
    """A column of lists of ordinals. The offsets are where each list begins, and the end of the last one."""

    def __init__(self, offsets: np.ndarray, values: np.ndarray):
        self._offsets, self._values = offsets, values

    @classmethod
    def of_column(cls, table: pa.Table, name: str) -> "Lists":
        lists = only_chunk(table, name)
        return cls(lists.offsets.to_numpy(), lists.values.to_numpy())

    def lengths(self, rows: np.ndarray) -> np.ndarray:
        lengths: np.ndarray = self._offsets[rows + 1] - self._offsets[rows]
        return lengths

    def values(self, rows: np.ndarray) -> np.ndarray:
        """Return the concatenated lists of some rows."""
        starts, lengths = self._offsets[rows], self.lengths(rows)
        before = np.cumsum(lengths) - lengths
        found: np.ndarray = self._values[np.repeat(starts - before, lengths) + np.arange(lengths.sum())]
        return found

    def kept(self, rows: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ordinals in the lists of some rows that a mask keeps, and the bounds of those of each row."""
        ordinals = self.values(rows)
        kept = mask.take(ordinals)
        before, ends = np.append(0, kept.cumsum()), np.append(0, self.lengths(rows).cumsum())
        return ordinals.compress(kept), before.take(ends)

    def between(self, rows: range) -> np.ndarray:
        return self._values[self._offsets[rows.start] : self._offsets[rows.stop]]


class SortedTexts:
    """Texts in UTF-8, sorted by their bytes: ranges of an array with the bytes of all texts."""

    def __init__(self, text: np.ndarray, starts: np.ndarray, ends: np.ndarray):
        self._text = text.data
        self._starts, self._ends = starts, ends
        self._keys = _prefix_keys(text, starts, ends).data  # a single number is read in a fifth of numpy's time

    def beginning_with(self, prefix: bytes) -> slice:
        """Return the range of the texts that begin with these bytes."""
        head = prefix[:_KEY_BYTES]
        low, high = (int.from_bytes(head.ljust(_KEY_BYTES, filler), "big") for filler in (b"\0", b"\xff"))
        first = bisect_left(self._keys, low)
        last = bisect_right(self._keys, high, first)
        if len(prefix) > _KEY_BYTES or 0 in prefix:  # several prefixes share these keys: compare the text
            rows = range(len(self._starts))
            first = bisect_left(rows, prefix, first, last, key=lambda row: self._beginning(row, len(prefix)))
            last = bisect_right(rows, prefix, first, last, key=lambda row: self._beginning(row, len(prefix)))
        return slice(first, last)

    def _beginning(self, row: int, length: int) -> bytes:
        start = self._starts[row]
        return bytes(self._text[start : min(self._ends[row], start + length)])


def name_table(names: pa.Table) -> pa.Table:
    """Return the table `names` from its rows, the texts with their products and entries."""
    keys = np.array([crc32(text.encode()) for text in names["text"].to_pylist()], np.uint32)
    by_key = keys.argsort(kind="stable").astype(np.uint32)
    return names.append_column("key", pa.array(keys[by_key])).append_column("by_key", pa.array(by_key))


def substring_table(words: pa.Table, suffixes: pa.Table, set_starts: np.ndarray, products: int) -> pa.Table:
    """Return the table `pieces`. The arguments are those of `Vocabulary`."""
    vocabulary = Vocabulary(words, suffixes, _substring_rows([], [], [], []), set_starts, products)
    uses = Counter[str]()
    lengths = words["products"].combine_chunks().value_lengths().to_pylist() if len(words) else []
    for word, used in zip(words["word"].to_pylist(), lengths, strict=True):
        uses.update(dict.fromkeys({*word, *map("".join, itertools.pairwise(word))}, used))
    # A product that has two words with the substring counts twice here, so the masks are counted again.
    threshold = products * _MIN_SUBSTRING_SHARE
    masks = {substring: vocabulary.mask(substring) for substring in sorted(uses) if uses[substring] >= threshold}
    frequent = {substring: mask for substring, mask in masks.items() if mask.sum() >= threshold}
    with_sets = (vocabulary.mask(substring, with_sets=True) for substring in frequent)
    return _substring_rows([*frequent], frequent.values(), map(vocabulary.start_mask, frequent), with_sets)


def _substring_rows(substrings: list[str], *masks: Iterable[np.ndarray]) -> pa.Table:
    packed = (pa.array([np.packbits(one).tobytes() for one in kind], pa.large_binary()) for kind in masks)
    columns = dict(zip(_MASKS, packed, strict=True))
    return pa.table({"piece": pa.array(substrings, pa.string()), **columns})


def _prefix_keys(text: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the first 8 bytes of each text as a big-endian uint64, padded with zeros: sorted if the texts are."""
    positions = starts[:, np.newaxis] + np.arange(_KEY_BYTES)
    values = np.append(text, np.uint8(0)).take(positions, mode="clip")
    return np.where(positions < ends[:, np.newaxis], values, np.uint8(0)).view(">u8").ravel().astype(np.uint64)
