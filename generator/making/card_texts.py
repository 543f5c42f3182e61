"""The Cards of ranges of products as JSON in files, from which any Cards are read.

The files are not mapped: every page of a mapped file that was read counts as memory, and the catalogue reads them all.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from generator.making.arrow_text import text_buffer

SIZE = "line_bytes"  # a column: the bytes of a Card and its line break


def split_texts(cards: pa.Table) -> tuple[pa.Table, bytes]:
    """Return Cards with the sizes of their lines in place of the column `line`, and the text of all lines."""
    text, starts = text_buffer(cards["line"])
    sizes = pa.array(np.diff(starts).astype(np.uint32))
    return cards.drop_columns("line").append_column(SIZE, sizes), bytes(text[starts[0] : starts[-1]])


class CardTexts:
    """The texts of Cards in files.

    Args:
        paths: The files, one per range of products.
        sizes: The bytes of each text, per file.
    """

    def __init__(self, paths: Sequence[Path], sizes: Sequence[NDArray[np.uint32]]):
        self._files = [path.open("rb", buffering=0) for path in paths]
        self._file = np.repeat(np.arange(len(paths)), [len(of_file) for of_file in sizes])
        self._sizes = np.concatenate(sizes).astype(np.int64)
        self._starts = np.concatenate([np.cumsum(of_file, dtype=np.int64) - of_file for of_file in sizes])

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()

    def read(self, places: NDArray[np.int64]) -> tuple[memoryview, list[int]]:
        """Return the texts at these places, one after the other, and where each begins, with the end of the last."""
        files, starts = self._file[places], self._starts[places]
        ends = starts + self._sizes[places]
        # Neighbours in a file are read at once. Most sets have neighbouring ids.
        firsts = np.flatnonzero(np.diff(files, prepend=-1) | (starts != np.append(-1, ends[:-1])))
        lasts = np.append(firsts[1:], len(places)) - 1
        runs = zip(files[firsts].tolist(), starts[firsts].tolist(), ends[lasts].tolist(), strict=True)
        text = b"".join(os.pread(self._files[file].fileno(), end - start, start) for file, start, end in runs)
        return memoryview(text), np.append(0, np.cumsum(ends - starts)).tolist()
