"""Compares two builds in a scratch database, and reads for it what a build has stored: prices, bulk tables, Cards.

A `Comparison` has a table of each side for everything that is compared. The name of a table begins with its side,
`old_` or `new_`; the old side is empty where there is no old build.

    <side>_prices       what a build knows of each product: its newest prices and its texts
    <side>_sets         id, name
    <side>_identifiers  id_product, scheme, value: the ids of other catalogues
    <side>_cards        id, card_sha256, product_sha256: the hash of the Card's line, and of the line before its prices
    <side>_objects      key, json_sha256: the stored objects of one layer, or the list pages (`diff`)

`build/checks/two_builds.sql` lists those that only gates read. Each is read once, when it is first asked for: a night
makes one comparison, and the gates, the documents of /changes and the pages read it in turn.

The report of one build reads its prices in a database of their own (`prices_database`), by the SQL of `build/report/`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from edge_auth.builds import layout
from edge_auth.builds.builds import Build
from edge_auth.builds.bulk import PART_OF_TABLE
from edge_auth.builds.catalogue import PRICES, SETS, Catalogue
from edge_auth.builds.layers import Layer, map_table
from edge_auth.errors import DamagedObject
from generator import settings
from generator.database import Database, query_fault, sql_literal
from generator.errors import BuildError
from generator.lake.files import GUIDE_PRICES
from generator.pack.verify import checked_file
from generator.threads import USUAL, Resources

CARDS_PER_BATCH = 3000
IdArray = np.ndarray[Any, np.dtype[Any]]

_NO_SETS = pa.schema([("id", pa.int64()), ("name", pa.string())]).empty_table()
_IDENTIFIERS = pa.schema([("id_product", pa.int64()), ("scheme", pa.string()), ("value", pa.string())])
_PRICES = pa.schema(
    [("id_product", pa.int64()), ("id_expansion", pa.int64()), ("guide_day", pa.date32())]
    + [(name, pa.string()) for name in ("game", "kind", "name", "rarity", "number", "category")]
    + [("date_added", pa.timestamp("us"))]
    + [(name, pa.decimal128(18, 2)) for name in GUIDE_PRICES]
    + [("filtered_day", pa.date32()), ("filtered", pa.decimal128(18, 2))]
    + [("listing_day", pa.date32()), ("from_price", pa.decimal128(18, 2))]
)
_SOURCE_ROWS = pa.schema(
    [("table", pa.string()), ("id", pa.int64()), ("slug", pa.string()), ("day", pa.date32())]
    + [(name, pa.float64()) for name in "ab"]
)
# By table of days of the lake: its bulk file, and two of its columns that tell rows of two days apart.
SOURCES = {
    "price_guide": ("price_guide", "trend", "low"),
    "listings": ("listings", "available", "from_price"),
    "filtered_checks": ("filtered", "lowest", "offers"),
    "watch_checks": ("watchlist", "lowest_price", "checks"),
}


class Comparison:
    """Two builds, and the database that compares them. `old` is None where no build is live."""

    def __init__(self, old: Build | None, new: Build, resources: Resources = USUAL):
        self.old, self.new = old, new
        self.db = Database(resources)

    @property
    def sides(self) -> tuple[tuple[str, Build | None], ...]:
        return ("old", self.old), ("new", self.new)

    def is_of(self, old: str, new: str) -> bool:
        return self.old is not None and (self.old.id, self.new.id) == (old, new)

    @cached_property
    def products(self) -> dict[str, pa.Table]:
        """The tables <side>_prices, by side; <side>_sets is made with them."""
        for side, build in self.sides:
            sets = map_table(checked_file(build.layers[layout.CATALOGUE], SETS)) if build else _NO_SETS
            self.db.connection.register(f"{side}_sets", sets)
        return self._register("prices", {side: newest_prices(build) for side, build in self.sides})

    @cached_property
    def identifiers(self) -> dict[str, pa.Table]:
        """The tables <side>_identifiers, by side."""
        made = {side: read_bulk_table(build, "identifiers", _IDENTIFIERS) for side, build in self.sides}
        return self._register("identifiers", made)

    @cached_property
    def cards(self) -> dict[str, pa.Table]:
        """The tables <side>_cards, by side."""
        made = {}
        for side, build in self.sides:
            if build:
                found = build.catalogue
                hashes = {"card_sha256": found.digests, "product_sha256": found.product_digests}
                made[side] = pa.table({"id": found.ids, **hashes})
        return self._register("cards", made)

    def _register(self, name: str, tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
        for side, table in tables.items():
            self.db.connection.register(f"{side}_{name}", table)
        return tables


@contextmanager
def compare(old: Build | None, new: Build, resources: Resources = USUAL) -> Iterator[Comparison]:
    """Compare two builds. The comparison is valid inside the `with` block."""
    comparison = Comparison(old, new, resources)
    try:
        with named_faults(comparison):
            yield comparison
    finally:
        comparison.db.close()


@contextmanager
def named_faults(comparison: Comparison) -> Iterator[None]:
    """Name the builds in an error of DuckDB inside the `with` block."""
    try:
        yield
    except duckdb.Error as error:
        builds = f"{comparison.old.id} and {comparison.new.id}" if comparison.old else comparison.new.id
        raise query_fault(error, f"{builds} cannot be compared", BuildError) from error


def newest_prices(build: Build | None) -> pa.Table:
    if build is None:
        return _PRICES.empty_table()
    return _read_columns(build.layers[layout.CATALOGUE], PRICES, _PRICES)


def read_bulk_table(build: Build | None, table: str, schema: pa.Schema) -> pa.Table:
    """Return columns of a table without days."""
    if build is None:
        return schema.empty_table()
    return _read_columns(build.layers[layout.sublayer(layout.BULK, PART_OF_TABLE[table])], table, schema)


def _read_columns(layer: Layer, stem: str, schema: pa.Schema) -> pa.Table:
    try:
        return pq.read_table(checked_file(layer, stem), columns=schema.names)
    except (OSError, pa.ArrowException) as error:
        raise DamagedObject(f"the file {stem} in {layer.folder} cannot be read: {error}") from error


def read_rows_of_days(
    build: Build, entry: Mapping[str, Any], days: Iterable[str], columns: Sequence[str] | None
) -> pa.Table:
    """Return columns (None: all) of the rows of some days in a file of the bulk manifest. No such rows: no columns."""
    within = [
        date.fromisoformat(day) for day in days if (entry["first_day"] or "9") <= day <= (entry["last_day"] or "")
    ]
    if not within:
        return pa.table({})
    stem = entry["name"].rpartition("-")[0]
    part = PART_OF_TABLE.get(entry["table"]) or stem.removeprefix(f"{entry['table']}-")
    layer = build.layers[layout.sublayer(layout.BULK, part)]
    try:
        return pq.read_table(checked_file(layer, stem), columns=columns, filters=[("day", "in", within)])
    except (OSError, pa.ArrowException) as error:
        raise DamagedObject(f"the bulk file {stem} in {layer.folder} cannot be read: {error}") from error


def rows_of_last_days(build: Build) -> dict[str, pa.Table]:
    """Return the rows of the last days of each table of days that has any; of the price guide only some columns."""
    days = [(build.as_of - timedelta(days=age)).isoformat() for age in range(settings.SOURCE_DAYS)]
    entries = json.loads(build.manifest())["files"]
    found = {}
    for table, (bulk_table, a, b) in SOURCES.items():
        columns = ["id_product", "day", a, b] if table == "price_guide" else None
        read = (read_rows_of_days(build, entry, days, columns) for entry in entries if entry["table"] == bulk_table)
        if rows := [of_file for of_file in read if of_file.num_columns]:
            found[table] = pa.concat_tables(rows)
    return found


def source_rows(days: Mapping[str, pa.Table]) -> pa.Table:
    """Return rows of tables of days as one: table, id or slug, day, and two values that tell rows of two days apart."""
    return pa.concat_tables([_SOURCE_ROWS.empty_table(), *(_as_source_rows(name, rows) for name, rows in days.items())])


def _as_source_rows(table: str, rows: pa.Table) -> pa.Table:
    key, (_, a, b) = "slug" if table == "watch_checks" else "id_product", SOURCES[table]
    columns = {"table": pa.repeat(table, len(rows)), "day": rows["day"], "a": rows[a], "b": rows[b]}
    columns |= {name: pa.nulls(len(rows)) for name in ("id", "slug")} | {"slug" if key == "slug" else "id": rows[key]}
    return pa.table({field.name: pc.cast(columns[field.name], field.type) for field in _SOURCE_ROWS})


def read_cards(catalogue: Catalogue, ids: IdArray) -> Iterator[pa.Table]:
    """Yield the Cards of products of a catalogue, in the order of `ids`, as tables of `json` of some megabytes each."""
    order = catalogue.by_id
    ordinals = order[np.searchsorted(catalogue.ids, ids, sorter=order)]
    for start in range(0, len(ordinals), CARDS_PER_BATCH):
        lines = catalogue.card_lines.lines(ordinals[start : start + CARDS_PER_BATCH])
        yield pa.table({"json": pa.array(lines, pa.string())})


@contextmanager
def prices_database(build: Build, resources: Resources) -> Iterator[Database]:
    """Yield a database with the view `prices`, the prices of a build, and the variable `as_of`."""
    path = build.layers[layout.CATALOGUE].file(PRICES)
    db = Database(resources)
    try:
        db.set(as_of=build.as_of.isoformat())
        db.connection.execute(f"create view prices as from read_parquet({sql_literal(path)})")
        yield db
    except duckdb.Error as error:
        raise query_fault(error, f"the prices of build {build.id} cannot be read", BuildError) from error
    finally:
        db.close()
