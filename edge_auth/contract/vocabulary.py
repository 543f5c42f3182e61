"""Vocabulary format: which products have a name with a word that holds a text, as Arrow files of the `catalogue` layer.

    words      a row per distinct word of the folded names, by word: word, products (ordinals, ascending)
    suffixes   a row per suffix of a word, by suffix: word (its place), start (byte in the word)
    pieces     a row per one or two characters that words of many products hold, by piece: piece, products (a bit each)

A text is held by the words that have a suffix which begins with it, and these stand side by side. Where they are many
their lists are long; but then they share a piece, whose products are ready.
"""

from bisect import bisect_left, bisect_right

import numpy as np
import pyarrow as pa

WORDS, SUFFIXES, PIECES = "words", "suffixes", "pieces"
_LONGEST_PIECE = 2
_HEAD = 8  # bytes of a suffix that are compared as one number
_MANY = 1 / 32


class Vocabulary:
    """The words of a catalogue of so many products."""

    def __init__(self, words: pa.Table, suffixes: pa.Table, pieces: pa.Table, products: int):
        self._count = products
        self._products = _Lists(only_chunk(words, "products"))
        _, offsets, text = only_chunk(words, "word").buffers()
        ends = np.frombuffer(offsets or b"", np.int32)
        self._text = memoryview(text or b"")
        self._word, start = (only_chunk(suffixes, name).to_numpy() for name in ("word", "start"))
        self._begins, self._ends = ends[self._word] + start, ends[1:][self._word]
        self.prefix_keys = prefix_keys(np.frombuffer(self._text, np.uint8), self._begins, self._ends)
        self._ready = dict(zip(pieces["piece"].to_pylist(), only_chunk(pieces, "products"), strict=True))

    def mask(self, text: str) -> np.ndarray:
        """Which products, by ordinal, have a name with a word that holds the folded text: an array of bool."""
        if text in self._ready:
            return _unpacked(self._ready[text], self._count)
        mask = np.zeros(self._count, bool)
        mask[self._products.of(self._word[self._beginning_with(text.encode())])] = True
        return mask

    def _beginning_with(self, wanted: bytes) -> slice:
        """The suffixes that begin with these bytes."""
        head = wanted[:_HEAD]
        low, high = (np.uint64(int.from_bytes(head.ljust(_HEAD, filler), "big")) for filler in (b"\0", b"\xff"))
        first, last = int(np.searchsorted(self.prefix_keys, low)), int(np.searchsorted(self.prefix_keys, high, "right"))
        if len(wanted) > _HEAD or 0 in wanted:  # their heads do not tell them from all others
            places = range(len(self._word))
            first = bisect_left(places, wanted, first, last, key=lambda place: self._suffix(place, len(wanted)))
            last = bisect_right(places, wanted, first, last, key=lambda place: self._suffix(place, len(wanted)))
        return slice(first, last)

    def _suffix(self, place: int, length: int) -> bytes:
        """The suffix at a place, or as many of its bytes."""
        begin = self._begins[place]
        return bytes(self._text[begin : min(self._ends[place], begin + length)])


class _Lists:
    """A column of lists of numbers."""

    def __init__(self, lists: pa.Array):
        self._offsets = lists.offsets.to_numpy()
        self._values = lists.values.to_numpy()

    def of(self, places: np.ndarray) -> np.ndarray:
        """The numbers of the lists at these places, one list after the other."""
        begins = self._offsets[places]
        lengths = self._offsets[places + 1] - begins
        before = np.cumsum(lengths) - lengths
        return self._values[np.repeat(begins - before, lengths) + np.arange(lengths.sum())]


def prefix_keys(text: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The first bytes of each suffix as a number; of sorted suffixes they are sorted. Zeros fill up a short one."""
    heads = np.zeros(len(begins), np.uint64)
    for byte in range(_HEAD):
        places = begins + byte
        found = text.take(places, mode="clip") if len(text) else np.zeros(0, np.uint8)
        heads = heads << np.uint64(8) | np.where(places < ends, found, 0).astype(np.uint64)
    return heads


def suffixes_of(words: pa.Array) -> pa.Table:
    """The table `suffixes` of the distinct words."""
    found = []
    for place, word in enumerate(words.to_pylist()):
        data = word.encode()
        starts = (byte for byte, value in enumerate(data) if value & 0xC0 != 0x80)  # where a character begins
        found += [(data[start:], place, start) for start in starts]
    _, places, starts = zip(*sorted(found), strict=True) if found else ((), (), ())
    return pa.table({"word": pa.array(places, pa.uint32()), "start": pa.array(starts, pa.uint32())})


def pieces_of(words: pa.Table, suffixes: pa.Table, products: int) -> pa.Table:
    """The table `pieces` of a vocabulary."""
    vocabulary = Vocabulary(words, suffixes, _pieces({}), products)
    uses: dict[str, int] = {}
    lengths = words["products"].combine_chunks().value_lengths().to_pylist() if len(words) else []
    for word, used in zip(words["word"].to_pylist(), lengths, strict=True):
        for piece in {word[at : at + n] for n in range(1, _LONGEST_PIECE + 1) for at in range(len(word) - n + 1)}:
            uses[piece] = uses.get(piece, 0) + used
    often = (piece for piece in sorted(uses) if uses[piece] >= products * _MANY)
    masks = {piece: vocabulary.mask(piece) for piece in often}
    return _pieces({piece: mask for piece, mask in masks.items() if mask.sum() >= products * _MANY})


def only_chunk(table: pa.Table, name: str) -> pa.Array:
    """A column of a table of one batch, or of none."""
    column = table[name]
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def _pieces(masks: dict[str, np.ndarray]) -> pa.Table:
    bits = [np.packbits(mask).tobytes() for mask in masks.values()]
    return pa.table({"piece": pa.array(masks, pa.string()), "products": pa.array(bits, pa.large_binary())})


def _unpacked(bits: pa.Scalar, count: int) -> np.ndarray:
    return np.unpackbits(np.frombuffer(bits.as_buffer(), np.uint8), count=count).view(bool)
