"""The Cards of a build as lines of JSON, by id, in a memory-mapped file.

In the store the lines are the bulk file `cards`. The local copy is inflated, so list answers are copied from it without
parsing. The lines' hashes are stored in the catalogue, so an ETag needs no pass over the text.
"""

import hashlib
import mmap
from pathlib import Path

import numpy as np
import pyarrow as pa

from edge_auth.errors import DamagedObject, StoreError
from edge_auth.store.codec import sha256
from edge_auth.store.disk import tolerated

CARD_LINES = "cards"  # the stem of the file
DIGEST_BYTES, PRODUCT_DIGEST_BYTES = 16, 8
# The text in a Card before its prices, which come last. JSON escapes quotation marks, so no text of a product holds it.
PRICES_MARK = b',"filtered_price":'


class CardLines:
    """The Card lines of a build.

    Args:
        file: The inflated lines.
        order: The ordinals in the order of the lines.
        sizes: Bytes of each line with its line feed, by ordinal.
        digests: The first bytes of the SHA-256 of each line, by ordinal.

    Raises:
        StoreError: The file cannot be mapped.
    """

    def __init__(self, file: Path, order: np.ndarray, sizes: np.ndarray, digests: pa.Array):
        self._ends = np.empty(len(sizes), np.int64)
        self._ends[order] = np.cumsum(sizes[order], dtype=np.int64)
        self._starts = self._ends - sizes
        self._views: tuple[memoryview, memoryview] = self._starts.data, self._ends.data
        data = np.frombuffer(digests.buffers()[1] or b"", np.uint8, len(sizes) * DIGEST_BYTES)
        self._digests = data.reshape(-1, DIGEST_BYTES)
        self._text = memoryview(_map(file) if len(sizes) else b"")

    def __len__(self) -> int:
        return len(self._digests)

    def lines(self, ordinals: np.ndarray) -> list[memoryview]:
        """Return the JSON of some Cards without their line feeds, as views into the mapped file."""
        starts, ends, text = self._starts.take(ordinals), self._ends.take(ordinals) - 1, self._text
        return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def checked_line(self, ordinal: int) -> bytes:
        """Return the JSON of a Card without its line feed, compared with its hash.

        Raises:
            DamagedObject: It does not match its hash.
        """
        starts, ends = self._views  # a single number is read in a fifth of numpy's time
        line = bytes(self._text[starts[ordinal] : ends[ordinal]])
        if sha256(line)[:DIGEST_BYTES] != self._digests[ordinal].tobytes():
            raise DamagedObject(f"the local copy of the Card {line[:40]!r} does not match its hash")
        return line[:-1]

    def digest(self, ordinals: np.ndarray) -> bytes:
        """Return a hash of some lines in this order."""
        return hashlib.sha256(self._digests.take(ordinals, axis=0).tobytes()).digest()


def _map(file: Path) -> "mmap.mmap | bytes":
    try:
        with file.open("rb") as stream:
            with tolerated():
                return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            return stream.read()  # a disk that maps no files
    except (OSError, ValueError) as error:
        raise StoreError(f"the local copy {file} cannot be mapped into memory: {error}") from error
