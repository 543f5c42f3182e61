"""The Cards of a build as lines of JSON, in the catalogue's order, in a memory-mapped file.

In the store the lines are the file `rows` of the layer `catalogue`, gzip members of some hundred lines each. The local
copy is inflated, so list answers are copied from it without parsing. The lines' hashes are stored beside them, so an
ETag needs no pass over the text.
"""

import hashlib
import mmap
from pathlib import Path

import numpy as np
import pyarrow as pa

from edge_auth.errors import StoreError

CARD_LINES = "rows"
DIGEST_BYTES = 16


class CardLines:
    """The Card lines of a build.

    Args:
        file: The inflated lines.
        sizes: Bytes of each line with its line feed, by ordinal.
        digests: The first bytes of the SHA-256 of each line, by ordinal.

    Raises:
        StoreError: The file cannot be mapped.
    """

    def __init__(self, file: Path, sizes: np.ndarray, digests: pa.Array):
        self._starts = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        data = np.frombuffer(digests.buffers()[1] or b"", np.uint8, len(sizes) * DIGEST_BYTES)
        self._digests = data.reshape(-1, DIGEST_BYTES)
        self._text = memoryview(_map(file) if len(sizes) else b"")

    def __len__(self) -> int:
        return len(self._digests)

    def lines(self, ordinals: np.ndarray) -> list[memoryview]:
        """Return the JSON of some Cards without their line feeds, as views into the mapped file."""
        starts, ends, text = self._starts.take(ordinals), self._starts.take(ordinals + 1) - 1, self._text
        return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def digest(self, ordinals: np.ndarray) -> bytes:
        """Return a hash of some lines in this order."""
        return hashlib.sha256(self._digests.take(ordinals, axis=0).tobytes()).digest()


def _map(file: Path) -> mmap.mmap:
    try:
        with file.open("rb") as stream:
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise StoreError(f"the local copy {file} cannot be mapped into memory: {error}") from error
