"""The catalogue of a build's bulk files: a DuckLake 1.0 catalogue as a DuckDB file, the same bytes on every machine.

DuckDB writes the same bytes for the same rows if it compresses nothing (it pads compressed columns with whatever is in
memory), and if the file has the form of version 1.0, whose head has no identifier drawn at random. Any DuckDB since 1.0
reads that form. A client that attaches the file fetches it block by block.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa

from generator.database import run_file, sql_literal
from generator.making.bulk_files import FOOTER

SQL = ("ducklake/tables", "ducklake/rows")
# What the bytes depend on besides the SQL.
CONSTANTS = (duckdb.__version__,)
_FORM = "storage_version 'v1.0.0', block_size 32768"  # most blocks of the usual size would be empty
_ENTRIES = pa.schema(
    {
        "name": pa.string(),
        "table": pa.string(),
        "records": pa.int64(),
        "bytes": pa.int64(),
        FOOTER: pa.int64(),
        "columns": pa.list_(pa.list_(pa.string())),
        "first_day": pa.string(),
        "last_day": pa.string(),
    }
)


def catalogue_file(entries: Sequence[dict[str, Any]]) -> bytes:
    """Return the catalogue of bulk files of format parquet, given by their entries in the manifest."""
    rows = pa.Table.from_pylist([{name: entry[name] for name in _ENTRIES.names} for entry in entries], _ENTRIES)
    with TemporaryDirectory(prefix="cardpress-") as folder:
        path = Path(folder) / "catalog.ducklake"
        with duckdb.connect(config={"threads": 1, "force_compression": "uncompressed"}) as connection:
            connection.execute(f"attach {sql_literal(path)} as catalog ({_FORM}); use catalog")
            connection.register("bulk_entries", rows)
            for file in SQL:
                run_file(connection, file)
        return path.read_bytes()
