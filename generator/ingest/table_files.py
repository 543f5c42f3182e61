"""The files that imports write into the lake, one row per key: their paths, columns and keys."""

from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import NamedTuple

import pyarrow as pa

from generator.lake.tables import TIMESTAMP, arrow_schema
from generator.lake.writer import LakeWriter


@dataclass(frozen=True)
class TableFile:
    """A file of a lake table that imports keep up to date. It has one row per key.

    Attributes:
        path: Path within the lake.
        prefix: How the names of all files of the table begin, in the same folder.
        key: The column that identifies a row.
        schema: The columns of the file. The file may have others.
        imported: The columns that an import replaces. It leaves all others as they are.
    """

    path: str
    prefix: str
    key: str
    schema: pa.Schema
    imported: tuple[str, ...]

    @property
    def imported_schema(self) -> pa.Schema:
        """The columns that an import replaces."""
        return pa.schema([self.schema.field(name) for name in self.imported])

    def read(self, lake: LakeWriter) -> pa.Table:
        """Return the file with the columns of the schema first. It is empty if the lake does not have it."""
        return lake.read_table(self.path, self.schema)

    def read_other_files(self, lake: LakeWriter, schema: pa.Schema) -> pa.Table:
        """Return required columns of the other files of the same table, without rows that have a null there."""
        folder, _, _ = self.path.rpartition("/")
        others = [path for path in lake.list_tables(self.prefix, folder) if path != self.path]
        tables = [lake.read_columns(path, schema).drop_null() for path in others]
        return pa.concat_tables([schema.empty_table(), *tables])

    def keys_in_other_files(self, lake: LakeWriter) -> pa.ChunkedArray:
        """Return the keys that other files of the same table have. An import leaves these rows to them."""
        return self.read_other_files(lake, pa.schema([self.schema.field(self.key)]))[self.key]


class DailyTable(NamedTuple):
    """A daily table as imports write it: `monitor.parquet` in the partition of each day of its `time` column.

    Attributes:
        name: Its name in `build/lake.sql`.
        product, time: The columns that identify a row.
    """

    name: str
    product: str
    time: str

    @property
    def schema(self) -> pa.Schema:
        """The columns of `build/lake.sql`."""
        return arrow_schema(self.name)

    def file(self, day: date) -> TableFile:
        """Return the file of a day."""
        path = f"{self.name}/day={day.isoformat()}/monitor.parquet"
        return TableFile(path, "", self.product, self.schema, tuple(self.schema.names))


@cache
def products_file() -> TableFile:
    """Return the file of all products that imports write."""
    imported = ("id_product", "name", "kind", "category", "id_expansion", "date_added", "created_at")
    schema = _with_created_at("products")
    return TableFile("products-cardmarket.parquet", "products", "id_product", schema, imported)


@cache
def expansions_file() -> TableFile:
    """Return the file of all expansions that imports write."""
    schema = _with_created_at("expansions")
    return TableFile("expansions-cardmarket.parquet", "expansions", "id", schema, ("id", "name", "created_at"))


@cache
def identifiers_file() -> TableFile:
    """Return the file of all ids of other catalogues that imports write. A product may have several rows."""
    schema = arrow_schema("identifiers")
    return TableFile("identifiers-imported.parquet", "identifiers", "id_product", schema, tuple(schema.names))


@cache
def watchlist_file() -> TableFile:
    """Return the file of all tracked products that imports write."""
    schema = arrow_schema("watchlist")
    return TableFile("watchlist-imported.parquet", "watchlist", "slug", schema, tuple(schema.names))


def price_guide_file(day: date) -> TableFile:
    """Return the file of one day of the price guide, with all games."""
    path = f"price_guide/day={day.isoformat()}/cardmarket.parquet"
    schema = _with_created_at("price_guide")
    return TableFile(path, "", "id_product", schema, tuple(schema.names))


def _with_created_at(table: str) -> pa.Schema:
    """Return the columns of a lake table, and the time of the newest file that a row was in."""
    return arrow_schema(table).append(pa.field("created_at", TIMESTAMP))
