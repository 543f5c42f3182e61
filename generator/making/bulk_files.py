"""Writes bulk files into a layer, with their entries of the manifest."""

import json
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from edge_auth.builds.bulk import CATALOGUE, FORMATS, LIVE_CATALOGUE, STORED_DIGITS, URL_FOLDER, file_name
from edge_auth.builds.index import LayerFile
from generator.database import Database
from generator.making.sorted_parquet import RECIPE, ROWS_PER_GROUP, ROWS_PER_GROUP_OF_DAY, ZSTD_LEVEL, SortedParquet
from generator.pack.writer import Writer

ENTRIES = "entries"  # the stem of a layer's file with the entries of its files
FOOTER = "footer"  # a member of an entry that the manifest leaves out: the bytes of a Parquet file's footer
# The constants of the format, for the digests of layers.
CONSTANTS = (RECIPE, ROWS_PER_GROUP, ROWS_PER_GROUP_OF_DAY, ZSTD_LEVEL, STORED_DIGITS, FOOTER, *FORMATS.items())

# The types of columns as DuckDB's DESCRIBE prints them.
_TYPES = {
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    pa.timestamp("us"): "TIMESTAMP",
    pa.string(): "VARCHAR",
}

Entry = dict[str, Any]  # of the manifest


def write_table(
    db: Database, writer: Writer, table: str, stem: str, sorted_by: tuple[str, ...], ready: Path | None = None
) -> Entry:
    """Write the view `bulk_<table>` as a Parquet file and return its entry.

    Args:
        stem: The name of the file without hash and format.
        sorted_by: Columns that no two rows have in common.
        ready: A file of `SortedParquet` with these rows, if another task has made it.
    """
    data = ready.read_bytes() if ready else _sorted_view(db, f"bulk_{table}", sorted_by)
    return _write_parquet(writer, table, stem, sorted_by, data)


def write_rows(writer: Writer, table: str, sorted_by: tuple[str, ...], rows: pa.Table) -> Entry:
    """Write sorted rows as a Parquet file and return its entry. Only the columns that sort them repeat values.

    Args:
        sorted_by: Columns that no two rows have in common.
    """
    batches = rows.to_batches(ROWS_PER_GROUP)
    return _write_parquet(writer, table, table, sorted_by, _parquet(rows.schema, batches, sorted_by, sorted_by))


def _write_parquet(writer: Writer, table: str, stem: str, sorted_by: tuple[str, ...], data: bytes) -> Entry:
    file, metadata = writer.add_file(f"{stem}.parquet", data), pq.read_metadata(pa.BufferReader(data))
    schema = metadata.schema.to_arrow_schema()
    return (
        _entry(table, stem, "parquet", file, metadata.num_rows)
        | {
            "columns": [[field.name, _TYPES[field.type]] for field in schema],
            "sorted_by": list(sorted_by),
            FOOTER: metadata.serialized_size,
        }
        | _first_and_last_day(metadata)
    )


def write_lines(writer: Writer, table: str, data: bytes, lines: int, sorted_by: str) -> Entry:
    """Write lines of JSON, compressed already, and return their entry."""
    file = writer.add_file(f"{table}.gz", data)
    return _entry(table, table, "jsonl.gz", file, lines) | {"sorted_by": [sorted_by]}


def write_catalogue(writer: Writer, data: bytes, rows: int) -> Entry:
    """Write a DuckLake catalogue, and return its entry.

    Args:
        rows: Of all of its tables.
    """
    return _entry(CATALOGUE, CATALOGUE, "ducklake", writer.add_file(LIVE_CATALOGUE, data), rows)


def write_entries(writer: Writer, entries: list[Entry]) -> None:
    """Write the entries of a layer's files for the manifest."""
    writer.add_file(f"{ENTRIES}.json", json.dumps(entries).encode())


def _sorted_view(db: Database, view: str, sorted_by: tuple[str, ...]) -> bytes:
    order = ", ".join(f"{column} nulls first" for column in sorted_by)
    reader = db.connection.sql(f"from {view} order by {order}").to_arrow_reader(ROWS_PER_GROUP)
    return _parquet(reader.schema, reader, sorted_by)


def _parquet(
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
