"""The files that imports write into the lake: their paths, columns and keys, and how rows are merged into them.

A file with one row per key takes the newest row; of rows with the same time those of the later import, so that a
corrected file replaces the first as a whole. Checks of scrapers have one row per product and time: of several the
greatest by all columns, null least. So the tables depend neither on the order nor on the number of imports.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from generator.database import quoted, sql_text
from generator.ingest.pipeline import FileChange, row_counts
from generator.lake.table_writer import LakeWriter, encode_parquet
from generator.lake.tables import TIMESTAMP, arrow_schema


@dataclass(frozen=True)
class TableFile:
    """A file of a lake table that imports keep up to date. It has one row per key."""

    path: str  # within the lake
    prefix: str  # of the names of all files of the table, in the same folder
    key: str  # the column that identifies a row
    schema: pa.Schema  # the file may have other columns
    replaced: tuple[str, ...] = ()  # the columns that an import replaces; none: all

    @property
    def imported_schema(self) -> pa.Schema:
        """The columns that an import replaces."""
        return pa.schema([self.schema.field(name) for name in self.replaced or self.schema.names])

    def read(self, lake: LakeWriter) -> pa.Table:
        """Return the file with the columns of the schema first. It is empty if the lake does not have it."""
        return lake.read_table(self.path, self.schema)

    def read_other_files(self, lake: LakeWriter, schema: pa.Schema) -> pa.Table:
        """Return required columns of the other files of the same table, without rows that have a null there."""
        folder, _, _ = self.path.rpartition("/")
        others = [path for path in lake.list_tables(self.prefix, folder) if path != self.path]
        tables = [lake.read_columns(path, schema).drop_null() for path in others]
        return pa.concat_tables([schema.empty_table(), *tables])

    def keys_in_other_files(self, lake: LakeWriter) -> pa.Table:
        """Return the column `key` of other files of the same table. An import leaves these rows to them."""
        return self.read_other_files(lake, pa.schema([self.schema.field(self.key)])).rename_columns(["key"])


class DailyTable(NamedTuple):
    """A daily table as imports write it: `monitor.parquet` of each day of `time`. Product and time identify a row."""

    name: str
    product: str
    time: str

    @property
    def schema(self) -> pa.Schema:
        """The columns of `build/lake.sql`."""
        return arrow_schema(self.name)

    def file(self, day: date) -> TableFile:
        return TableFile(f"{self.name}/day={day.isoformat()}/monitor.parquet", "", self.product, self.schema)


def _with_created_at(table: str) -> pa.Schema:
    """Return the columns of a lake table, and the time of the newest file that a row was in."""
    return arrow_schema(table).append(pa.field("created_at", TIMESTAMP))


PRODUCTS_FILE = TableFile(
    "products-cardmarket.parquet",
    "products",
    "id_product",
    _with_created_at("products"),
    ("id_product", "name", "kind", "category", "id_expansion", "date_added", "created_at"),
)
EXPANSIONS_FILE = TableFile(
    "expansions-cardmarket.parquet", "expansions", "id", _with_created_at("expansions"), ("id", "name", "created_at")
)
# All ids of other catalogues that imports write. A product may have several.
IDENTIFIERS_FILE = TableFile("identifiers-imported.parquet", "identifiers", "id_product", arrow_schema("identifiers"))
WATCHLIST_FILE = TableFile("watchlist-imported.parquet", "watchlist", "slug", arrow_schema("watchlist"))


def price_guide_file(day: date) -> TableFile:
    path = f"price_guide/day={day.isoformat()}/cardmarket.parquet"
    return TableFile(path, "", "id_product", _with_created_at("price_guide"))


class TableUpdate:
    """A file with one row per key, before and after an import, and the keys that other files of the table have."""

    def __init__(self, lake: LakeWriter, file: TableFile, imported: Iterable[pa.Table] = ()) -> None:
        """Merge imported tables, one after the other."""
        self.file = file
        self.before = self.after = file.read(lake)
        self.incoming = file.imported_schema.empty_table()
        self.other_keys = file.keys_in_other_files(lake)
        for rows in imported:
            self.merge(rows)

    def merge(self, rows: pa.Table) -> None:
        """Merge imported rows. Keys may repeat."""
        if len(rows):
            self.incoming = pa.concat_tables([self.incoming, rows])
            columns = {"imported": tuple(rows.schema.names), "columns": tuple(self.before.schema.names)}
            tables = {"existing": self.after, "incoming": rows, "other_files": self.other_keys}
            self.replace_by("merge_rows", {"key": self.file.key} | columns, **tables)

    def replace_by(self, name: str, values: Mapping[str, Any] | None = None, /, **tables: pa.Table) -> None:
        """Replace the rows by what a file of `build/imports/` selects from tables."""
        self.after = select(name, values, **tables).cast(self.before.schema)

    @property
    def is_changed(self) -> bool:
        """Whether the import changes the file."""
        return not self.after.equals(self.before)

    def change(self) -> FileChange:
        """Return the new content of the file, if it changed, and the counts."""
        compared = tuple(name for name in self.file.schema.names if name != "created_at")
        imported = (name for name in self.incoming.schema.names if name not in (self.file.key, "created_at"))
        has_time = "created_at" in self.incoming.schema.names
        names = {"key": self.file.key, "compared": compared, "imported": tuple(imported) if has_time else ()}
        tables = {"existing": self.before, "incoming": self.incoming, "merged": self.after}
        [found] = select("count_rows", names, **tables, other_files=self.other_keys).to_pylist()
        counts = row_counts(len(self.after), found["new"], found["changed"], found["skipped"])
        if found["older"]:
            counts["older"] = found["older"]
        return FileChange(self.file.path, counts, encode_parquet(self.after) if self.is_changed else None)


def merge_checks(lake: LakeWriter, table: DailyTable, incoming: pa.Table) -> Iterator[FileChange]:
    """Merge rows into the files of their days, and yield the files in the order of days."""
    days = pc.unique(incoming[table.time].cast(pa.date32())).sort().to_pylist()
    if not days:
        return
    schema = table.schema
    files = {day: table.file(day) for day in days}
    before = {day: file.read(lake).select(schema.names) for day, file in files.items()}
    key = pa.schema([schema.field(table.product), schema.field(table.time)])
    other_files = pa.concat_tables(file.read_other_files(lake, key) for file in files.values())
    tables = {"existing": pa.concat_tables(before.values()), "incoming": incoming, "other_files": other_files}
    names = {"product": table.product, "time": table.time, "columns": tuple(schema.names)}
    merged = select("merge_checks", names | {"compared": tuple(map(_comparable, schema))}, **tables).cast(schema)
    counts = {found["day"]: found for found in select("count_checks", names, **tables, merged=merged).to_pylist()}
    start = 0
    for day, file in files.items():
        found = counts[day]
        after = merged.slice(start, found["rows"])
        start += found["rows"]
        said = row_counts(found["rows"], found["new"], found["changed"], found["skipped"])
        data = None if after.equals(before[day]) else encode_parquet(after)
        yield FileChange(file.path, said | {"lesser": found["outranked"]}, data)


def _comparable(field: pa.Field) -> str:
    """Return SQL by which a column compares with null least, also within the offers of a list."""
    if not pa.types.is_list(field.type):
        return quoted(field.name)
    least = {pa.string(): "''"}
    members = [
        f"has_{member.name}: offer.{member.name} IS NOT NULL, "
        f"{member.name}: coalesce(offer.{member.name}, {least.get(member.type, 0)})"
        for member in field.type.value_type
    ]
    return f"list_transform({quoted(field.name)}, lambda offer: {{{', '.join(members)}}})"


def select(name: str, values: Mapping[str, Any] | None = None, /, **tables: pa.Table) -> pa.Table:
    """Return what a template of `build/imports/` selects. Of its `values`, `params` are the parameters of the SQL."""
    names = dict(values or {})
    params = names.pop("params", None)
    with _memory().cursor() as database:
        for table, rows in tables.items():
            database.register(table, rows)
        return database.sql(sql_text(f"imports/{name}", **names), params=params).to_arrow_table()


@cache
def _memory() -> duckdb.DuckDBPyConnection:
    """Open the database of this process: that takes 20 ms, one more connection to it half a millisecond."""
    return duckdb.connect()
