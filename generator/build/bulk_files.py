"""Writes bulk files into a layer, with their entries of the manifest.

One thread writes a Parquet file, in row groups of a fixed number of rows. So the bytes depend on the rows and on the
version of pyarrow only. Statistics tell a reader which row groups hold a product.
"""

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from edge_auth.contract.bulk import FORMATS, STORED_DIGITS, URL_FOLDER, file_name
from edge_auth.contract.index import LayerFile
from generator.database import Database
from generator.pack.writer import Writer

ENTRIES = "entries"  # the stem of a layer's file with the entries of its files
# About 650 products of a month: a reader of one product fetches little beyond it.
ROWS_PER_GROUP = 20_480
ZSTD_LEVEL = 3
# The constants of the format, for the digests of layers.
CONSTANTS = (ROWS_PER_GROUP, ZSTD_LEVEL, STORED_DIGITS, *FORMATS.items())

# The types of columns as DuckDB's DESCRIBE prints them.
_TYPES = {
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    pa.timestamp("us"): "TIMESTAMP",
    pa.string(): "VARCHAR",
}

Entry = dict[str, Any]  # of the manifest


def write_table(db: Database, writer: Writer, table: str, stem: str, sorted_by: tuple[str, ...]) -> Entry:
    """Write the view `bulk_<table>` as a Parquet file and return its entry.

    Args:
        stem: The name of the file without hash and format.
        sorted_by: Columns that no two rows have in common.
    """
    data = _sorted_parquet(db, f"from bulk_{table} order by {', '.join(sorted_by)}", sorted_by)
    file, metadata = writer.add_file(f"{stem}.parquet", data), pq.read_metadata(pa.BufferReader(data))
    schema = metadata.schema.to_arrow_schema()
    return (
        _entry(table, stem, "parquet", file, metadata.num_rows)
        | {
            "columns": [[field.name, _TYPES[field.type]] for field in schema],
            "sorted_by": list(sorted_by),
        }
        | _first_and_last_day(metadata)
    )


def write_lines(writer: Writer, table: str, data: bytes, lines: int, sorted_by: str) -> Entry:
    """Write lines of JSON, compressed already, and return their entry."""
    file = writer.add_file(f"{table}.gz", data)
    return _entry(table, table, "jsonl.gz", file, lines) | {"sorted_by": [sorted_by]}


def write_entries(writer: Writer, entries: list[Entry]) -> None:
    """Write the entries of a layer's files for the manifest."""
    writer.add_file(f"{ENTRIES}.json", json.dumps(entries).encode())


def _sorted_parquet(db: Database, query: str, sorted_by: tuple[str, ...]) -> bytes:
    """Return the result of a query as a Parquet file. Few row groups are in memory at once, besides the file."""
    sink = pa.BufferOutputStream()
    reader = db.connection.sql(query).to_arrow_reader(ROWS_PER_GROUP)
    with pq.ParquetWriter(
        sink,
        reader.schema,
        compression="zstd",
        compression_level=ZSTD_LEVEL,
        write_statistics=list(sorted_by),
        store_schema=False,
    ) as writer:
        for group in _groups(reader):
            writer.write_table(group, row_group_size=ROWS_PER_GROUP)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _groups(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """Yield the rows of a reader, ROWS_PER_GROUP at a time, whatever the sizes of its batches."""
    waiting: list[pa.RecordBatch] = []
    for batch in reader:
        waiting.append(batch)
        while sum(map(len, waiting)) >= ROWS_PER_GROUP:
            rows = pa.Table.from_batches(waiting)
            yield rows.slice(0, ROWS_PER_GROUP).combine_chunks()
            waiting = rows.slice(ROWS_PER_GROUP).to_batches()
    if any(map(len, waiting)):
        yield pa.Table.from_batches(waiting).combine_chunks()


def _first_and_last_day(metadata: pq.FileMetaData) -> Entry:
    """Return the first and the last day of a file, from the statistics of its column `day`; none without one."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    columns = [group.column(place) for group in groups for place in range(group.num_columns)]
    days = [column.statistics for column in columns if column.path_in_schema == "day"]
    if not days:
        return {}
    first, last = min(found.min for found in days), max(found.max for found in days)
    return {"first_day": str(first), "last_day": str(last)}


def _entry(table: str, stem: str, format_: str, file: LayerFile, records: int) -> Entry:
    """Return an entry of the manifest, in the order of its members, without columns and days."""
    name = file_name(stem, format_, file.sha256)
    return {
        "name": name,
        "table": table,
        "format": format_,
        "bytes": file.size,
        "records": records,
        "sha256": file.sha256,
        "columns": [],
        "sorted_by": [],
        "first_day": None,
        "last_day": None,
        "url": URL_FOLDER + name,
    }
