"""Text columns of Arrow tables as bytes, so that objects are cut from one buffer instead of being joined in Python."""

import numpy as np
import pyarrow as pa
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
