"""Reads the rows of a bulk table out of a build."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from edge_auth.contract import layer_names
from edge_auth.contract.builds import Build
from edge_auth.contract.bulk import PART_OF_TABLE
from edge_auth.errors import StoreError
from generator.releases.verify import checked_file


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


def count_rows_of_days(build: Build, entry: Mapping[str, Any], days: Iterable[str]) -> int:
    """Return how many rows of some days (YYYY-MM-DD) a file of the bulk manifest has.

    Raises:
        DamageError: The file differs from its hash.
        StoreError: The file cannot be read.
    """
    within = [
        date.fromisoformat(day) for day in days if (entry["first_day"] or "9") <= day <= (entry["last_day"] or "")
    ]
    if not within:
        return 0
    stem = entry["name"].rpartition("-")[0]
    layer = build.layers[layer_names.bulk_layer(stem.removeprefix(f"{entry['table']}-"))]
    try:
        return int(pq.read_table(checked_file(layer, stem), columns=["day"], filters=[("day", "in", within)]).num_rows)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"the bulk file {stem} in {layer.folder} cannot be read: {error}") from error
