"""Reads rows of a build out of its files: newest prices, bulk tables, and Cards with their hashes."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from edge_auth.builds import layer_names
from edge_auth.builds.builds import Build
from edge_auth.builds.bulk import PART_OF_TABLE
from edge_auth.builds.catalogue import PRICES, Catalogue
from edge_auth.builds.layers import Layer
from edge_auth.errors import DamagedObject, StoreError
from generator import settings
from generator.errors import BuildError
from generator.lake.prices_and_conditions import PRICE_FIGURES
from generator.pack.verify import checked_file

CARDS_PER_BATCH = 3000
_GUIDE_PRICES = [f"{figure}{finish}" for finish in ("", "_holo") for figure in PRICE_FIGURES]
_PRICES = pa.schema(
    [("id_product", pa.int64()), ("id_expansion", pa.int64()), ("guide_day", pa.date32())]
    + [(name, pa.string()) for name in ("game", "kind", "name", "rarity", "number", "category")]
    + [("date_added", pa.timestamp("us"))]
    + [(name, pa.decimal128(18, 2)) for name in _GUIDE_PRICES]
    + [("filtered_day", pa.date32()), ("filtered", pa.decimal128(18, 2))]
    + [("listing_day", pa.date32()), ("from_price", pa.decimal128(18, 2))]
)
NO_PRICES = _PRICES.empty_table()

IdArray = np.ndarray[Any, np.dtype[Any]]


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
        raise DamagedObject(f"the prices in {layer.folder} cannot be read: {error}") from error


def _column(table: pa.Table, field: pa.Field) -> pa.ChunkedArray | pa.Array:
    return table[field.name] if field.name in table.column_names else pa.nulls(len(table), field.type)


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
        raise DamagedObject(f"the bulk file {table} in {layer.folder} cannot be read: {error}") from error


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
    part = PART_OF_TABLE.get(entry["table"]) or stem.removeprefix(f"{entry['table']}-")
    layer = build.layers[layer_names.bulk_layer(part)]
    try:
        return pq.read_table(checked_file(layer, stem), columns=columns, filters=[("day", "in", within)])
    except (OSError, pa.ArrowException) as error:
        raise DamagedObject(f"the bulk file {stem} in {layer.folder} cannot be read: {error}") from error


_SOURCE_ROWS = pa.schema(
    {
        "table": pa.string(),
        "id": pa.int64(),
        "slug": pa.string(),
        "day": pa.date32(),
        "a": pa.float64(),
        "b": pa.float64(),
    }
)
# By table of days of the lake: its bulk file, and two of its columns that tell rows of two days apart.
_SOURCES = {
    "price_guide": ("price_guide", "trend", "low"),
    "listings": ("listings", "available", "from_price"),
    "filtered_checks": ("filtered", "lowest", "offers"),
    "watch_checks": ("watchlist", "lowest_price", "checks"),
}


def source_rows(build: Build) -> pa.Table:
    """Return the rows of the last days of all tables of days: table, id or slug, day, and two values.

    Raises:
        DamageError, StoreError: As `read_rows_of_days`.
    """
    days = [(build.as_of - timedelta(days=age)).isoformat() for age in range(settings.SOURCE_DAYS)]
    entries = json.loads(build.manifest() or b'{"files": []}')["files"]
    found = [_SOURCE_ROWS.empty_table()]
    for table, (bulk_table, a, b) in _SOURCES.items():
        key = "slug" if table == "watch_checks" else "id_product"
        for entry in entries:
            if entry["table"] == bulk_table:
                rows = read_rows_of_days(build, entry, days, [key, "day", a, b])
                if rows.num_columns:
                    found.append(_as_source_rows(table, key, rows, a, b))
    return pa.concat_tables(found)


def _as_source_rows(table: str, key: str, rows: pa.Table, a: str, b: str) -> pa.Table:
    columns = {"table": pa.repeat(table, len(rows)), "day": rows["day"], "a": rows[a], "b": rows[b]}
    columns |= {name: pa.nulls(len(rows)) for name in ("id", "slug")} | {"slug" if key == "slug" else "id": rows[key]}
    return pa.table({field.name: pc.cast(columns[field.name], field.type) for field in _SOURCE_ROWS})


def card_hashes(build: Build) -> pa.Table:
    """Return `id` and the hashes of the Cards: `card_sha256` of the line, `product_sha256` of it before its prices.

    Raises:
        BuildError: The build has no catalogue.
        StoreError: It cannot be read.
    """
    if layer_names.CATALOGUE not in build.layers:
        raise BuildError(f"{build.id} has no layer {layer_names.CATALOGUE}")
    catalogue = build.catalogue
    hashes = {"card_sha256": catalogue.digests, "product_sha256": catalogue.product_digests}
    return pa.table({"id": catalogue.ids, **hashes})


def read_cards(catalogue: Catalogue, ids: IdArray) -> Iterator[pa.Table]:
    """Yield the Cards of products of a catalogue, in the order of `ids`, as tables of `json` of some megabytes each.

    Raises:
        StoreError: The Cards cannot be read.
    """
    order = catalogue.by_id
    ordinals = order[np.searchsorted(catalogue.ids, ids, sorter=order)]
    for start in range(0, len(ordinals), CARDS_PER_BATCH):
        lines = catalogue.card_lines.lines(ordinals[start : start + CARDS_PER_BATCH])
        yield pa.table({"json": pa.array(lines, pa.string())})
