"""Every Card of a build once, as lines of JSON in the catalogue's order, mapped into memory.

In the store the lines lie in the file `rows` of the layer `catalogue`, gzip members of some hundred lines each. The
local copy is inflated, so that a page is cut out and joined; its ETag comes from the lines' own hashes.
"""

import hashlib
import mmap
from pathlib import Path

import numpy as np
import pyarrow as pa

from edge_auth.errors import StoreError

ROWS = "rows"
DIGEST_BYTES = 16


class CardLines:
    """The lines of a build's Cards.

    Args:
        file: the lines, inflated.
        sizes: bytes of each line, its line feed among them, by ordinal.
        digests: the beginning of the SHA-256 of each line, by ordinal.

    Raises:
        StoreError: the file cannot be mapped.
    """

    def __init__(self, file: Path, sizes: np.ndarray, digests: pa.Array):
        self._starts = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        data = np.frombuffer(digests.buffers()[1] or b"", np.uint8, len(sizes) * DIGEST_BYTES)
        self._digests = data.reshape(-1, DIGEST_BYTES)
        self._lines = memoryview(_mapped(file) if len(sizes) else b"")

    def __len__(self) -> int:
        return len(self._digests)

    def lines(self, ordinals: np.ndarray) -> list[memoryview]:
        """The Cards of products, each JSON on one line, where they lie: what needs them for longer copies them."""
        starts, ends = self._starts[ordinals].tolist(), (self._starts[ordinals + 1] - 1).tolist()
        lines = self._lines
        return [lines[start:end] for start, end in zip(starts, ends, strict=True)]

    def digest(self, ordinals: np.ndarray) -> bytes:
        """A hash that tells these lines, in this order, from all others."""
        return hashlib.sha256(self._digests[ordinals]).digest()


def _mapped(file: Path) -> mmap.mmap:
    try:
        with file.open("rb") as opened:
            return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise StoreError(f"the copy {file} cannot be mapped: {error}") from error
