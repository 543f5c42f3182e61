"""The layer `identifiers`: the ids of other catalogues, as one file for both directions.

A product without ids changes nothing here, so the layer depends on the ids that the table names and the catalogue does
not know. `facts-….json` counts the rows of these.
"""

import json
from typing import Any

import numpy as np
import pyarrow as pa

from edge_auth.builds import layout
from edge_auth.builds.identifiers import FILE
from edge_auth.builds.layers import FACTS, to_bytes
from generator.database import Database
from generator.lake.lake import Lake
from generator.making import named_products
from generator.making.lake_tables import IDENTIFIERS
from generator.making.layer import BuildLayer
from generator.making.named_products import UNKNOWN, NamedProducts
from generator.making.work import Work, small_layer


def identifiers_layer(lake: Lake, named: NamedProducts) -> BuildLayer:
    """Define the layer of the ids of other catalogues."""
    content = lake.content("identifiers")
    unknown = named.unknown_in_identifiers(content)
    inputs: dict[str, list[str] | str] = {named_products.IDENTIFIERS: content, UNKNOWN: unknown}
    return small_layer(lake, layout.IDENTIFIERS, _identifiers, IDENTIFIERS, ("views/identifiers",), content=inputs)


def _identifiers(work: Work) -> None:
    schemes = work.db.rows('select scheme, "rows", json from identifier_schemes order by scheme')
    work.add_file(f"{FILE}.arrow", to_bytes(_rows(work.db, {scheme: found for scheme, *found in schemes})))
    left_out = work.db.rows("from identifiers_left_out")
    work.add_file(f"{FACTS}.json", json.dumps({"left_out": left_out}).encode())


def _rows(db: Database, schemes: dict[str, list[Any]]) -> pa.Table:
    """Return the rows of the file; see `edge_auth.builds.identifiers`."""
    table = db.table("select key, value, id_product from identifier_rows order by scheme, key, value, id_product")
    by_id = np.argsort(table["id_product"].to_numpy(), kind="stable").astype(np.uint32)
    table = table.append_column("by_id", pa.array(by_id))
    return table.replace_schema_metadata({"schemes": json.dumps(schemes)})
