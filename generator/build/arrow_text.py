"""Text columns of Arrow tables as bytes, so that objects are cut from one buffer instead of being joined in Python."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def text_buffer(texts: pa.ChunkedArray) -> tuple[memoryview, NDArray[np.int64]]:
    """Return the bytes of a text column, and the offset of each of its n values with the end of the last: (n + 1,)."""
    array = texts.combine_chunks() if texts.num_chunks != 1 else texts.chunk(0)
    array = array.cast(pa.large_string())
    _, offsets, data = array.buffers()
    starts = (
        np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
        if offsets
        else np.zeros(1, np.int64)
    )
    return memoryview(data) if data else memoryview(b""), starts


class TextColumn:
    """A text column in chunks, which may be mapped files. Takes rows without copying the whole column."""

    def __init__(self, texts: pa.ChunkedArray):
        self._chunks = texts.chunks
        self._firsts = np.cumsum([0, *(len(chunk) for chunk in self._chunks)])

    def take(self, rows: NDArray[np.int64], end: str) -> tuple[memoryview, NDArray[np.int64]]:
        """Return the texts of rows in this order, each followed by `end`, as `text_buffer` does."""
        # Arrow's own take of a chunked column first copies all of it into one chunk.
        chunk_of = np.searchsorted(self._firsts, rows, side="right") - 1
        by_chunk = np.argsort(chunk_of, kind="stable")
        taken = [
            self._chunks[number].take(pa.array(rows[by_chunk[start:stop]] - self._firsts[number]))
            for number, start, stop in _groups(chunk_of[by_chunk])
        ]
        place = np.empty(len(rows), np.int64)
        place[by_chunk] = np.arange(len(rows))
        texts = pa.concat_arrays(taken).take(pa.array(place)) if len(taken) > 1 else taken[0]
        return text_buffer(pa.chunked_array([pc.binary_join_element_wise(texts, end, "")]))


def _groups(numbers: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    """Yield (number, start, end) of each group of equal numbers in a sorted array."""
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(numbers)], strict=True):
        yield int(numbers[start]), int(start), int(end)
