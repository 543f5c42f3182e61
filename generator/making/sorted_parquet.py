"""Writes sorted rows as Parquet files, in row groups of a fixed number of rows.

One thread writes a file, so its bytes depend on the rows and on the version of pyarrow only. Statistics tell a reader
which row groups hold a product.

In a row group the bytes of the first column lie after those of the second, so that the bytes of the column that a
reader filters by can lie between those of others. DuckDB 1.5 reads columns that are at most 16 KiB apart in one
request, with what lies between them. It needs two requests for the rows of a product, not three. For this the columns
are written in the other order, and exchanged in the footer. The footer is a struct of Thrift's compact protocol
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md). Its length does not change.
"""

import os
from types import TracebackType
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

# About 400 products of a month: a reader of one product fetches little beyond it, and no column is much above 16 KiB.
ROWS_PER_GROUP = 12_288
ROWS_PER_GROUP_OF_DAY = 4_096  # in a file of one day each row is another product
ZSTD_LEVEL = 3
RECIPE = 2  # raise it when the same rows give other bytes
_SCHEMA, _ROW_GROUPS = 2, 4  # fields of the footer
_COLUMNS = 1  # a field of a row group
_TAIL = 8  # bytes of the length of the footer and of the magic number
_BYTE, _INTEGERS, _DOUBLE, _BINARY, _LIST, _STRUCT = 3, (4, 5, 6), 7, 8, 9, 12


class SortedParquet:
    """A Parquet file that is written batch by batch. Few row groups are in memory at once.

    Args:
        sink: A stream that can be read and written at any place. It is left open.
        sorted_by: The columns that have statistics.
        repeated: The columns whose values repeat, which are stored as dictionaries. None: all.
        rows_per_group: The number of rows in a row group.
    """

    def __init__(
        self,
        sink: BinaryIO,
        schema: pa.Schema,
        sorted_by: tuple[str, ...],
        repeated: tuple[str, ...] | None = None,
        rows_per_group: int = ROWS_PER_GROUP,
    ):
        self._sink = sink
        self._names = [*reversed(schema.names[:2]), *schema.names[2:]]
        self._writer = pq.ParquetWriter(
            sink,
            pa.schema([schema.field(name) for name in self._names]),
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
        if error is None:
            exchange_first_columns(self._sink)

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
        self._writer.write_table(rows.select(self._names).combine_chunks(), row_group_size=self._rows_per_group)


def exchange_first_columns(file: BinaryIO) -> None:
    """Exchange the first two columns of a Parquet file in its footer."""
    file.seek(-_TAIL, os.SEEK_END)
    start = file.seek(-_TAIL - int.from_bytes(file.read(4), "little"), os.SEEK_END)
    footer = bytearray(file.read())
    fields, _ = _struct(footer, 0)
    _exchange(footer, _elements(footer, fields[_SCHEMA])[1:])  # the first is the root
    for group in _elements(footer, fields[_ROW_GROUPS])[:-1]:
        _exchange(footer, _elements(footer, _struct(footer, group)[0][_COLUMNS]))
    file.seek(start)
    file.write(footer)


def _exchange(data: bytearray, starts: list[int]) -> None:
    first, second, end = starts[:3]
    data[first:end] = data[second:end] + data[first:second]


def _struct(data: bytearray, at: int) -> tuple[dict[int, int], int]:
    """Return where the values of a struct begin, by the numbers of their fields, and where it ends."""
    fields, number = {}, 0
    while head := data[at]:
        at += 1
        if step := head >> 4:
            number += step
        else:
            number, at = _varint(data, at)
            number = number >> 1 ^ -(number & 1)
        fields[number] = at
        at = _end(data, at, head & 15)
    return fields, at + 1


def _elements(data: bytearray, at: int) -> list[int]:
    """Return where the elements of a list begin, and where the last one ends."""
    size, kind = data[at] >> 4, data[at] & 15
    at += 1
    if size == 15:
        size, at = _varint(data, at)
    edges = [at]
    for _ in range(size):
        edges.append(_end(data, edges[-1], kind))
    return edges


def _end(data: bytearray, at: int, kind: int) -> int:
    """Return where a value of a kind ends. A truth value is in the kind itself."""
    if kind in _INTEGERS:
        return _varint(data, at)[1]
    if kind == _BINARY:
        size, at = _varint(data, at)
        return at + size
    if kind == _STRUCT:
        return _struct(data, at)[1]
    if kind == _LIST:
        return _elements(data, at)[-1]
    return at + {_BYTE: 1, _DOUBLE: 8}.get(kind, 0)


def _varint(data: bytearray, at: int) -> tuple[int, int]:
    """Return a number that is stored in groups of 7 bits, and where it ends."""
    number = shift = 0
    while data[at] & 128:
        number |= (data[at] & 127) << shift
        shift += 7
        at += 1
    return number | data[at] << shift, at + 1


def to_parquet(rows: pa.Table, rows_per_group: int | None = None) -> bytes:
    """Return rows as a Parquet file, in row groups that are small enough to read ranges of it."""
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, compression="zstd", row_group_size=rows_per_group)
    data: bytes = sink.getvalue().to_pybytes()
    return data
