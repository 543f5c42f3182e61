"""Columns of text as bytes, so that objects are cut from one buffer instead of being put together value by value."""

import numpy as np
import pyarrow as pa


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
