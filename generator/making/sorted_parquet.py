"""Writes sorted rows as Parquet files, in row groups of a fixed number of rows.

One thread writes a file, so its bytes depend on the rows and on the version of pyarrow only. Statistics tell a reader
which row groups hold a product.
"""

from collections.abc import Iterable
from io import BytesIO
from types import TracebackType
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

# About 400 products of a month: a reader of one product fetches little beyond it, and no column is much above 16 KiB.
ROWS_PER_GROUP = 12_288
ROWS_PER_GROUP_OF_DAY = 4_096  # in a file of one day each row is another product
ZSTD_LEVEL = 3
RECIPE = 3  # raise it when the same rows give other bytes
FORMAT = (RECIPE, ROWS_PER_GROUP, ROWS_PER_GROUP_OF_DAY, ZSTD_LEVEL)  # for the digests of layers


class SortedParquet:
    """A Parquet file that is written batch by batch. Few row groups are in memory at once.

    The columns `sorted_by` have statistics. Those `repeated` are stored as dictionaries; None: all.
    """

    def __init__(
        self,
        sink: BinaryIO,
        schema: pa.Schema,
        sorted_by: tuple[str, ...],
        repeated: tuple[str, ...] | None = None,
        rows_per_group: int = ROWS_PER_GROUP,
    ):
        self._writer = pq.ParquetWriter(
            sink,
            schema,
            compression="zstd",
            compression_level=ZSTD_LEVEL,
            use_dictionary=True if repeated is None else list(repeated),
            write_statistics=list(sorted_by),
            store_schema=False,
        )
        self._waiting: list[pa.RecordBatch] = []
        self._rows_waiting = 0
        self._rows_per_group = rows_per_group

    def __enter__(self) -> "SortedParquet":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None and self._rows_waiting:
            self._write(pa.Table.from_batches(self._waiting))
        self._writer.close()

    def add(self, batch: pa.RecordBatch) -> None:
        """Append rows, of any number."""
        self._waiting.append(batch)
        self._rows_waiting += len(batch)
        while self._rows_waiting >= self._rows_per_group:
            rows = pa.Table.from_batches(self._waiting)
            self._write(rows.slice(0, self._rows_per_group))
            self._waiting = rows.slice(self._rows_per_group).to_batches()
            self._rows_waiting -= self._rows_per_group

    def _write(self, rows: pa.Table) -> None:
        self._writer.write_table(rows.combine_chunks(), row_group_size=self._rows_per_group)


def sorted_parquet(
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    sorted_by: tuple[str, ...],
    repeated: tuple[str, ...] | None = None,
) -> bytes:
    """Return sorted rows as a file of `SortedParquet`."""
    sink = BytesIO()
    with SortedParquet(sink, schema, sorted_by, repeated) as file:
        for batch in batches:
            file.add(batch)
    return sink.getvalue()
