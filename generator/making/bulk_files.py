"""Writes bulk files into a layer, with their entries of the manifest."""

import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from edge_auth.builds.bulk import FORMATS, STORED_DIGITS, URL_FOLDER, file_name
from generator.database import Database
from generator.making.sorted_parquet import RECIPE, ROWS_PER_GROUP, ROWS_PER_GROUP_OF_DAY, ZSTD_LEVEL, sorted_parquet
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


def sorted_view(db: Database, view: str, sorted_by: tuple[str, ...]) -> bytes:
    """Return the rows of a view as a file of `SortedParquet`, sorted by columns that no two rows have in common."""
    order = ", ".join(f"{column} nulls first" for column in sorted_by)
    reader = db.connection.sql(f"from {view} order by {order}").to_arrow_reader(ROWS_PER_GROUP)
    return sorted_parquet(reader.schema, reader, sorted_by)


def write_parquet(writer: Writer, table: str, stem: str, sorted_by: tuple[str, ...], data: bytes) -> Entry:
    """Write a file of `SortedParquet`, and return its entry. `stem` is its name without hash and format."""
    metadata = pq.read_metadata(pa.BufferReader(data))
    schema = metadata.schema.to_arrow_schema()
    return (
        write_file(writer, table, f"{stem}.parquet", "parquet", data, metadata.num_rows, sorted_by)
        | {"columns": [[field.name, _TYPES[field.type]] for field in schema], FOOTER: metadata.serialized_size}
        | _first_and_last_day(metadata)
    )


def write_file(
    writer: Writer, table: str, name: str, format_: str, data: bytes, records: int, sorted_by: tuple[str, ...] = ()
) -> Entry:
    """Write a file, and return its entry, in the order of its members."""
    file = writer.add_file(name, data)
    name = file_name(name.partition(".")[0], format_, file.sha256)
    return {
        "name": name,
        "table": table,
        "format": format_,
        "bytes": file.size,
        "records": records,
        "sha256": file.sha256,
        "columns": [],
        "sorted_by": list(sorted_by),
        "first_day": None,
        "last_day": None,
        "url": URL_FOLDER + name,
    }


def write_entries(writer: Writer, entries: list[Entry]) -> None:
    """Write the entries of a layer's files for the manifest."""
    writer.add_file(f"{ENTRIES}.json", json.dumps(entries).encode())


def _first_and_last_day(metadata: pq.FileMetaData) -> Entry:
    """Return the first and the last day of a file, from the statistics of its column `day`; none without one."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    columns = [group.column(place) for group in groups for place in range(group.num_columns)]
    days = [column.statistics for column in columns if column.path_in_schema == "day"]
    if not days:
        return {}
    first, last = min(found.min for found in days), max(found.max for found in days)
    return {"first_day": str(first), "last_day": str(last)}
