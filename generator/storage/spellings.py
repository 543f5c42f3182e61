"""Texts that are spelled nearly like another one: those that the fewest mistakes turn into it."""

from collections.abc import Iterable

import numpy as np

_MOST_MISTAKES = 3
_BYTES_PER_MISTAKE = 3
_LEAST_BYTES = 4  # of a text: a shorter one is near to too many
_MOST_COMPARED = 100
_BIT = np.uint64(1) << np.arange(64, dtype=np.uint64)
_LOST_PER_MISTAKE = 4  # bits: two swapped bytes are in three pairs, another byte is one itself and in two pairs
_SPACE, _FAR = ord(" "), 2 * _MOST_MISTAKES + 1


class Spellings:
    """Folded texts in UTF-8: ranges of an array with the bytes of all. The heavier of equally near ones is first."""

    def __init__(self, text: np.ndarray, starts: np.ndarray, ends: np.ndarray, weights: np.ndarray):
        self._text, self._starts, self._lengths, self._weights = text, starts, ends - starts, weights
        # A text also has the bit of its end with what comes behind, and an empty one has bits of another text.
        parts = _bits_of_parts(np.append(text, np.zeros(2, np.uint8)))
        self._bits = [np.bitwise_or.reduceat(bits, starts) if len(starts) else bits[:0] for bits in parts]

    @classmethod
    def of(cls, texts: Iterable[str], weights: np.ndarray) -> "Spellings":
        encoded = [text.encode() for text in texts]
        ends = np.array([len(text) for text in encoded], np.intp).cumsum()
        starts = np.append(0, ends)[:-1]
        return cls(np.frombuffer(b"".join(encoded), np.uint8), starts, ends, weights)

    def nearest(self, wanted: str, most: int) -> list[int]:
        """Return the rows of the texts that are nearest to a folded one, `most` at most; [] if none is near.

        A mistake is a letter that is put in, left out or replaced, or two that are swapped. A text of which only the
        first words are near counts as half a mistake more.
        """
        text = wanted.encode()
        allowed = min(_MOST_MISTAKES, (len(text) + 1) // _BYTES_PER_MISTAKE)
        if len(text) < _LEAST_BYTES:
            return []
        wanted_bits = (np.bitwise_or.reduce(bits) for bits in _bits_of_parts(np.frombuffer(text, np.uint8)))
        lost = sum(np.bitwise_count(one & ~bits) for one, bits in zip(wanted_bits, self._bits, strict=True))
        likely = (lost <= allowed * _LOST_PER_MISTAKE) & (self._lengths >= len(text) - allowed)
        rows = np.flatnonzero(likely)
        rows = np.sort(rows[np.asarray(lost)[rows].argsort(kind="stable")[:_MOST_COMPARED]])
        mistakes = self._twice_mistakes(rows, text)
        rows = rows.compress(mistakes == min(mistakes.min(initial=_FAR), 2 * allowed))
        nearest: list[int] = rows[np.argsort(-self._weights.take(rows), kind="stable")].tolist()
        return nearest[:most]

    def _twice_mistakes(self, rows: np.ndarray, wanted: bytes) -> np.ndarray:
        """Return twice how many mistakes turn each text, or its first words, into another one."""
        width = len(wanted) + _MOST_MISTAKES + 1  # what stands behind is too far away
        lengths, places = self._lengths.take(rows), np.arange(width)
        names = np.append(self._text, np.uint8(0)).take(self._starts.take(rows)[:, np.newaxis] + places, mode="clip")
        names = np.where(places < lengths[:, np.newaxis], names, np.uint8(0))
        steps = np.arange(width + 1, dtype=np.int16)
        before = last = np.tile(steps, (len(rows), 1))  # rows of the tables of distances between beginnings
        for row, letter in enumerate(wanted, 1):
            same = names == letter
            now = np.full_like(last, row)
            now[:, 1:] = np.minimum(last[:, :-1] + ~same, last[:, 1:] + 1)
            if row > 1:
                swapped = same[:, :-1] & (names[:, 1:] == wanted[row - 2])
                now[:, 2:] = np.where(swapped, np.minimum(now[:, 2:], before[:, :-2] + 1), now[:, 2:])
            before, last = last, np.minimum.accumulate(now - steps, axis=1) + steps
        at_end = np.minimum(lengths, width)[:, np.newaxis]
        whole = np.where(lengths <= width, np.take_along_axis(last, at_end, 1)[:, 0], _FAR)
        first_words = np.where(names == _SPACE, 2 * last[:, :-1] + 1, 2 * _FAR).min(axis=1, initial=2 * _FAR)
        found: np.ndarray = np.minimum(2 * whole, first_words)
        return found


def _bits_of_parts(text: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each byte of a text but the last one of 64 bits, and one for the byte with the next one."""
    bytes_ = text.astype(np.uint64)
    pairs = bytes_[:-1] * np.uint64(31) + bytes_[1:]
    return _BIT.take(text[:-1] % np.uint8(64)), _BIT.take(pairs % np.uint64(64))
