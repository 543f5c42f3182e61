"""Reads the rows of a bulk table out of a build."""

import pyarrow as pa
import pyarrow.parquet as pq

from edge_auth.contract import layer_names
from edge_auth.contract.builds import Build
from edge_auth.contract.bulk import PART_OF_TABLE
from edge_auth.errors import StoreError


def read_bulk_table(build: Build, table: str, schema: pa.Schema) -> pa.Table:
    """Return columns of a table without days. A build of a version that did not write it has no rows.

    Raises:
        StoreError: The file cannot be read.
    """
    layer = build.layers.get(layer_names.bulk_layer(PART_OF_TABLE[table]))
    if layer is None:
        return schema.empty_table()
    try:
        return pq.read_table(layer.file(table), columns=schema.names)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"the bulk file {table} in {layer.folder} cannot be read: {error}") from error
