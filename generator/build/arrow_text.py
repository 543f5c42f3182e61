"""Columns of text as bytes, so that objects are cut from one buffer instead of being put together value by value."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def text_buffer(texts: pa.ChunkedArray) -> tuple[memoryview, np.ndarray]:
    """The bytes of a text column in one piece, and where each value begins (one more than there are values)."""
    array = texts.combine_chunks() if texts.num_chunks != 1 else texts.chunk(0)
    array = array.cast(pa.large_string())
    _, offsets, data = array.buffers()
    starts = (
        np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
        if offsets
        else np.zeros(1, np.int64)
    )
    return memoryview(data) if data else memoryview(b""), starts


class Lines:
    """A text column in chunks that may be mapped, of which rows are gathered piece by piece."""

    def __init__(self, texts: pa.ChunkedArray):
        self._chunks = texts.chunks
        self._firsts = np.cumsum([0, *(len(chunk) for chunk in self._chunks)])

    def take(self, rows: np.ndarray, after: bytes) -> tuple[memoryview, np.ndarray]:
        """The texts of these rows, in this order, each followed by `after`: as `text_buffer` gives them."""
        # Arrow's own take of a column in chunks first copies the whole column into one.
        chunk_of = np.searchsorted(self._firsts, rows, side="right") - 1
        by_chunk = np.argsort(chunk_of, kind="stable")
        found = [
            self._chunks[number].take(pa.array(rows[by_chunk[start:end]] - self._firsts[number]))
            for number, start, end in _runs(chunk_of[by_chunk])
        ]
        back = np.empty(len(rows), np.int64)
        back[by_chunk] = np.arange(len(rows))
        taken = pa.concat_arrays(found).take(pa.array(back)) if len(found) > 1 else found[0]
        return text_buffer(pa.chunked_array([pc.binary_join_element_wise(taken, after.decode(), "")]))


def _runs(numbers: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """Sorted numbers as (number, start, end) of each run of equal ones."""
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(numbers)], strict=True):
        yield int(numbers[start]), int(start), int(end)
