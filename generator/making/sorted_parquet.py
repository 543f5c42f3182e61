"""Writes sorted rows as Parquet files, in row groups of a fixed number of rows.

One thread writes a file, so its bytes depend on the rows and on the version of pyarrow only. Statistics tell a reader
which row groups hold a product.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

# About 400 products of a month: a reader of one product fetches little beyond it, and no column is much above 16 KiB.
ROWS_PER_GROUP = 12_288
ROWS_PER_GROUP_OF_DAY = 4_096  # in a file of one day each row is another product
ZSTD_LEVEL = 3
RECIPE = 3  # raise it when the same rows give other bytes
FORMAT = (RECIPE, ROWS_PER_GROUP, ROWS_PER_GROUP_OF_DAY, ZSTD_LEVEL)  # for the digests of layers


@contextmanager
def sorted_file(
    sink: Path | BinaryIO,
    schema: pa.Schema,
    sorted_by: tuple[str, ...],
    repeated: tuple[str, ...] | None = None,
    rows_per_group: int = ROWS_PER_GROUP,
) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Write a Parquet file, and yield what appends rows, of any number. Few row groups are in memory at once.

    The columns `sorted_by` have statistics. Those `repeated` are stored as dictionaries; None: all.
    """
    waiting: list[pa.RecordBatch] = []
    count = 0  # of rows that wait
    with pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        compression_level=ZSTD_LEVEL,
        use_dictionary=True if repeated is None else list(repeated),
        write_statistics=list(sorted_by),
        store_schema=False,
    ) as writer:

        def write(rows: pa.Table) -> None:
            writer.write_table(rows.combine_chunks(), row_group_size=rows_per_group)

        def add(batch: pa.RecordBatch) -> None:
            nonlocal count
            waiting.append(batch)
            count += len(batch)
            while count >= rows_per_group:
                rows = pa.Table.from_batches(waiting)
                write(rows.slice(0, rows_per_group))
                waiting[:] = rows.slice(rows_per_group).to_batches()
                count -= rows_per_group

        yield add
        if count:
            write(pa.Table.from_batches(waiting))


def sorted_parquet(
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    sorted_by: tuple[str, ...],
    repeated: tuple[str, ...] | None = None,
) -> bytes:
    """Return sorted rows as a file of `sorted_file`."""
    sink = BytesIO()
    with sorted_file(sink, schema, sorted_by, repeated) as add:
        for batch in batches:
            add(batch)
    return sink.getvalue()
