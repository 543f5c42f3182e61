"""Reads what a build knows of each product: its newest prices and its texts, as the gates and a diff compare them."""

import pyarrow as pa
import pyarrow.parquet as pq

from edge_auth.builds import layer_names
from edge_auth.builds.builds import Build
from edge_auth.builds.catalogue import PRICES, SETS
from edge_auth.builds.index import map_table
from edge_auth.builds.layers import Layer
from edge_auth.errors import StoreError
from generator.database import Database
from generator.lake.prices_and_conditions import PRICE_FIGURES
from generator.pack.verify import checked_file

_GUIDE_PRICES = [f"{figure}{finish}" for finish in ("", "_holo") for figure in PRICE_FIGURES]
_PRICES = pa.schema(
    [("id_product", pa.int64()), ("id_expansion", pa.int64()), ("guide_day", pa.date32())]
    + [(name, pa.string()) for name in ("game", "kind", "name", "rarity", "number", "category")]
    + [("date_added", pa.timestamp("us"))]
    + [(name, pa.decimal128(18, 2)) for name in _GUIDE_PRICES]
    + [("filtered_day", pa.date32()), ("filtered", pa.decimal128(18, 2))]
)
NO_PRICES = _PRICES.empty_table()
_NO_SETS = pa.schema([("id", pa.int64()), ("name", pa.string())]).empty_table()


def newest_prices(layer: Layer) -> pa.Table:
    """Return the prices of a build. Columns that the build's version did not keep are null, or the table is empty.

    Raises:
        DamageError: The file differs from its hash.
        StoreError: The file cannot be read.
    """
    try:
        table = pq.read_table(checked_file(layer, PRICES))
        return pa.table({field.name: _column(table, field) for field in _PRICES})
    except StoreError:
        if any(file.name.startswith(f"{PRICES}-") for file in layer.index.files):
            raise
        return NO_PRICES
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"the prices in {layer.folder} cannot be read: {error}") from error


def _column(table: pa.Table, field: pa.Field) -> pa.ChunkedArray | pa.Array:
    return table[field.name] if field.name in table.column_names else pa.nulls(len(table), field.type)


def register_products(db: Database, side: str, build: Build | None) -> pa.Table:
    """Make the tables <side>_prices and <side>_sets, empty without a build. Return the first.

    Raises:
        DamageError: A file differs from its hash.
        StoreError: A file cannot be read.
    """
    prices, sets = NO_PRICES, _NO_SETS
    if build:
        catalogue = build.layers[layer_names.CATALOGUE]
        prices, sets = newest_prices(catalogue), map_table(checked_file(catalogue, SETS))
    db.connection.register(f"{side}_prices", prices)
    db.connection.register(f"{side}_sets", sets)
    return prices
