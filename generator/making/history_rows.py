"""The rows of products' histories as JSON, and the objects that hold them."""

import itertools
from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from edge_auth.builds import pages
from edge_auth.builds.splice import encode_fragments
from generator.making.arrow_text import text_buffer
from generator.making.context import BuildContext
from generator.pack.writer import Writer, hash_objects

_ROWS_PER_CHUNK = 366_000  # of an array, if each product has one every day
_ROWS_PER_ARROW_CHUNK = 10_000_000  # more than a chunk has, so that no text is copied into one column
_DAY_BITS = 32  # of a key of product and day


class HistoryRows:
    """The rows of the histories of some products as JSON, in memory.

    Iterating gives for each product the rows of its arrays, in the order of `pages.HISTORY_ARRAYS`. The rows of an
    array are joined by `pages.BETWEEN`. For the ids 7 and 9, of which 9 has listings only:

        (b'{"day":"2026-01-01","low":1.5},\\n{"day":"2026-01-02","low":1.6}', b'{"day":"2026-01-02","offers":2}', b'')
        (b'', b'', b'{"day":"2026-01-02","available":3}')

    Args:
        ids: The sorted ids of the products.
    """

    def __init__(self, context: BuildContext, ids: NDArray[np.int64]):
        self._arrays = [_rows_of_products(context, array, ids) for array in pages.HISTORY_ARRAYS]

    def __iter__(self) -> Iterator[tuple[bytes, ...]]:
        return zip(*(_texts(buffer, cuts) for buffer, cuts in self._arrays), strict=True)


def _texts(buffer: memoryview, cuts: list[int]) -> Iterator[bytes]:
    for start, end in itertools.pairwise(cuts):
        yield bytes(buffer[start : max(start, end - len(pages.BETWEEN))])


def _rows_of_products(context: BuildContext, array: str, ids: NDArray[np.int64]) -> tuple[memoryview, list[int]]:
    """Return the rows of one array, each followed by `pages.BETWEEN`, and where the rows of each product begin."""
    with context.db.connection.cursor() as cursor:
        found = cursor.sql(f"from history_{array} where id_product between {ids[0]} and {ids[-1]}")
        rows = found.to_arrow_table(_ROWS_PER_ARROW_CHUNK).combine_chunks()
    place = np.searchsorted(ids, rows["id_product"].to_numpy())
    known = ids[np.minimum(place, len(ids) - 1)] == rows["id_product"].to_numpy()
    if not known.all():  # rows of products that the lake does not know
        rows, place = rows.filter(pa.array(known)), place[known]
    key, lines = (place << _DAY_BITS) + rows["day"].cast(pa.int32()).to_numpy(), rows["line"]
    if (key[1:] < key[:-1]).any():  # of several files, each in order: many times faster than an order by in SQL
        lines = lines.take(pa.array(np.argsort(key, kind="stable")))
    ends = np.cumsum(np.bincount(place, minlength=len(ids)))
    buffer, offsets = text_buffer(lines)
    return buffer, offsets[np.concatenate(([0], ends))].tolist()


def write_histories(context: BuildContext, writer: Writer, ids: NDArray[np.int64], days: int, ahead: int) -> None:
    """Write the histories of products in the order of their ids, a chunk of products at a time.

    Args:
        ids: The sorted ids of the products.
        days: The most rows that a product has in an array.
        ahead: How many chunks are read in another thread while one is encoded. Each takes memory.
    """
    step = max(1, _ROWS_PER_CHUNK // days)
    chunks = [ids[start : start + step] for start in range(0, len(ids), step)]
    with context.db.kept_footers():
        for chunk, rows in zip(chunks, context.in_order(partial(HistoryRows, context), chunks, ahead), strict=True):
            encoded = ((id_, *encode_fragments(arrays)) for id_, arrays in zip(chunk.tolist(), rows, strict=True))
            members = hash_objects(encoded)
            writer.add(members)
            context.tick(len(members))
