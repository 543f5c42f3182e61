"""Reads the rows of a bulk table out of a build."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from edge_auth.builds import layer_names
from edge_auth.builds.builds import Build
from edge_auth.builds.bulk import PART_OF_TABLE
from edge_auth.errors import StoreError
from generator.pack.verify import checked_file


def read_bulk_table(build: Build, table: str, schema: pa.Schema) -> pa.Table:
    """Return columns of a table without days. A build of a version that did not write it has no rows.

    Raises:
        DamageError: The file differs from its hash.
        StoreError: The file cannot be read.
    """
    layer = build.layers.get(layer_names.bulk_layer(PART_OF_TABLE[table]))
    if layer is None:
        return schema.empty_table()
    try:
        return pq.read_table(checked_file(layer, table), columns=schema.names)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"the bulk file {table} in {layer.folder} cannot be read: {error}") from error


def read_rows_of_days(build: Build, entry: Mapping[str, Any], days: Iterable[str], columns: Sequence[str]) -> pa.Table:
    """Return columns of the rows of some days (YYYY-MM-DD) in a file of the bulk manifest. None of them: no columns.

    Raises:
        DamageError: The file differs from its hash.
        StoreError: The file cannot be read.
    """
    within = [
        date.fromisoformat(day) for day in days if (entry["first_day"] or "9") <= day <= (entry["last_day"] or "")
    ]
    if not within:
        return pa.table({})
    stem = entry["name"].rpartition("-")[0]
    layer = build.layers[layer_names.bulk_layer(stem.removeprefix(f"{entry['table']}-"))]
    try:
        return pq.read_table(checked_file(layer, stem), columns=columns, filters=[("day", "in", within)])
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"the bulk file {stem} in {layer.folder} cannot be read: {error}") from error
