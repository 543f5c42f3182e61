"""Compares two builds in a scratch database, and reads for it what a build has stored: prices, bulk tables, Cards.

A `Comparison` has a table of each side for everything that is compared. The name of a table begins with its side,
`old_` or `new_`; the old side is empty where there is no old build.

    <side>_prices       what a build knows of each product: its newest prices and its texts
    <side>_sets         id, name
    <side>_identifiers  id_product, scheme, value: the ids of other catalogues
    <side>_cards        id, card_sha256, product_sha256: the hash of the Card's line, and of the line before its prices
    <side>_objects      key, json_sha256: the stored objects of one layer, or the list pages (`diff`)

`build/checks/two_builds.sql` lists those that only gates read. `read` reads each once, when it is first asked for: a
night makes one comparison, and the gates, the documents of /changes and the pages read it in turn.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import date, timedelta
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from generator import settings
from generator.database import Database, query_fault, sql_literal
from generator.errors import BuildError
from generator.lake.files import GUIDE_PRICES
from generator.pack.verify import checked_file
from generator.storage import layout
from generator.storage.builds import Build
from generator.storage.bulk import FILES, PART_OF_TABLE, place_of
from generator.storage.catalogue import PRICES, SETS, Catalogue
from generator.storage.errors import DamagedObject
from generator.storage.layers import Layer, map_table
from generator.threads import USUAL, Resources

CARDS_PER_BATCH = 3000
IdArray = np.ndarray[Any, np.dtype[Any]]

_PRICES = [
    *("id_product", "id_expansion", "guide_day", "game", "kind", "name", "rarity", "number", "category", "date_added"),
    *GUIDE_PRICES,
    *("filtered_day", "filtered", "listing_day", "from_price"),
]
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
        self.tables: dict[str, dict[str, pa.Table]] = {}  # that are read, by name and side
        self.figures: dict[str, int] = {}  # once `compare.ordinary` has counted them

    def register(self, name: str, read: Callable[[Build], pa.Table]) -> None:
        """Make the tables <side>_<name> of what `read` returns for each build. That of no build is empty."""
        old = read(self.old) if self.old else None
        new = read(self.new)
        self.tables[name] = {"old": new.slice(0, 0) if old is None else old, "new": new}
        for side, table in self.tables[name].items():
            self.db.connection.register(f"{side}_{name}", table)

    def read(self, *names: str) -> None:
        """Make the tables <side>_<name> of those above that are not made yet."""
        for name in names:
            if name not in self.tables:
                self.register(name, _READ[name])


@contextmanager
def compare(
    old: Build | None, new: Build, resources: Resources = USUAL, made: Comparison | None = None
) -> Iterator[Comparison]:
    """Compare two builds, by the comparison `made` if it is of these. A new one is valid inside the `with` block.

    An error of DuckDB inside the block becomes a BuildError that names the builds.
    """
    is_made = made and made.old and old and (made.old.id, made.new.id) == (old.id, new.id)
    comparison = made if made and is_made else Comparison(old, new, resources)
    try:
        yield comparison
    except duckdb.Error as error:
        builds = f"{old.id} and {new.id}" if old else new.id
        raise query_fault(error, f"{builds} cannot be compared", BuildError) from error
    finally:
        if comparison is not made:
            comparison.db.close()


def newest_prices(build: Build) -> pa.Table:
    """Return what a build knows of each product."""
    return _read_columns(build.layers[layout.CATALOGUE], PRICES, _PRICES)


# How `Comparison.read` has each table from a build.
_READ: dict[str, Callable[[Build], pa.Table]] = {
    "prices": newest_prices,
    "sets": lambda build: map_table(checked_file(build.layers[layout.CATALOGUE], SETS)),
    "identifiers": lambda build: read_bulk_table(build, "identifiers", ["id_product", "scheme", "value"]),
    "cards": lambda of: pa.table(
        {"id": of.catalogue.ids, "card_sha256": of.catalogue.digests, "product_sha256": of.catalogue.product_digests}
    ),
}


def read_bulk_table(build: Build, table: str, columns: Sequence[str] | None) -> pa.Table:
    """Return columns of a table without days; None: all."""
    return _read_columns(build.layers[layout.sublayer(layout.BULK, PART_OF_TABLE[table])], table, columns)


def bulk_entries(build: Build) -> list[dict[str, Any]]:
    """Return what the manifest says of each bulk file."""
    entries: list[dict[str, Any]] = json.loads(build.manifest())[FILES]
    return entries


def bulk_file(build: Build, entry: Mapping[str, Any]) -> tuple[Layer, str]:
    """Return the layer that has a file of the bulk manifest, and the first part of the file's name."""
    layer, stem = place_of(entry)
    return build.layers[layer], stem


def _read_columns(layer: Layer, stem: str, columns: Sequence[str] | None, days: list[date] | None = None) -> pa.Table:
    filters = [("day", "in", days)] if days else None
    try:
        return pq.read_table(checked_file(layer, stem), columns=columns, filters=filters)
    except (OSError, pa.ArrowException) as error:
        file = "bulk file" if days else "file"
        raise DamagedObject(f"the {file} {stem} in {layer.folder} cannot be read: {error}") from error


def read_rows_of_days(build: Build, table: str, days: Collection[date], columns: Sequence[str] | None) -> pa.Table:
    """Return columns of the rows of some days in the bulk files of a table; no columns if no file has these days."""
    found = []
    for entry in bulk_entries(build):
        if entry["table"] == table and entry["first_day"]:
            first, last = (date.fromisoformat(entry[end]) for end in ("first_day", "last_day"))
            if within := [day for day in days if first <= day <= last]:
                found.append(_read_columns(*bulk_file(build, entry), columns, within))
    return pa.concat_tables(found) if found else pa.table({})


def rows_of_last_days(build: Build) -> dict[str, pa.Table]:
    """Return the rows of the last days of each table of days that has any; of the price guide only some columns."""
    days = [build.as_of - timedelta(days=age) for age in range(settings.SOURCE_DAYS)]
    found = {}
    for table, (bulk_table, a, b) in SOURCES.items():
        columns = ["id_product", "day", a, b] if table == "price_guide" else None
        found[table] = read_rows_of_days(build, bulk_table, days, columns)
    return {table: rows for table, rows in found.items() if rows.num_columns}


def read_cards(catalogue: Catalogue, ids: IdArray) -> Iterator[pa.Table]:
    """Yield the Cards of products of a catalogue, in the order of `ids`, as tables of `id` and `json`, some MB each."""
    order = catalogue.by_id
    ordinals = order[np.searchsorted(catalogue.ids, ids, sorter=order)]
    for start in range(0, len(ordinals), CARDS_PER_BATCH):
        some = slice(start, start + CARDS_PER_BATCH)
        yield pa.table({"id": ids[some], "json": pa.array(catalogue.card_lines.lines(ordinals[some]), pa.string())})


@contextmanager
def prices_database(build: Build, resources: Resources) -> Iterator[Database]:
    """Yield a database with the view `prices`, the prices of a build, and the variable `as_of`."""
    path = build.layers[layout.CATALOGUE].file(PRICES)
    with closing(Database(resources)) as db:
        try:
            db.set(as_of=build.as_of.isoformat())
            db.connection.execute(f"create view prices as from read_parquet({sql_literal(path)})")
            yield db
        except duckdb.Error as error:
            raise query_fault(error, f"the prices of build {build.id} cannot be read", BuildError) from error
