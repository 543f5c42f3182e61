"""The columns that `build/lake.sql` declares, as DuckDB and as Arrow types, and which other types a file may have."""

from dataclasses import dataclass
from functools import cache
from typing import cast

import duckdb
import pyarrow as pa
from duckdb.sqltypes import DuckDBPyType

from generator.database import run_file

TIMESTAMP = pa.timestamp("us")  # UTC, without a zone
_ARROW_TYPES = {
    "bigint": pa.int64(),
    "double": pa.float64(),
    "varchar": pa.string(),
    "timestamp": TIMESTAMP,
    "date": pa.date32(),
}
_INTEGERS = {f"{sign}{width}int" for sign in ("", "u") for width in ("tiny", "small", "", "big", "huge")} | {
    "integer",
    "uinteger",
}
_NUMBERS = _INTEGERS | {"float", "double", "decimal"}
_ACCEPTED = {
    "bigint": _INTEGERS,
    "double": _NUMBERS,
    "varchar": {"varchar", "enum"},
    "timestamp": {f"timestamp{zone}{unit}" for zone in ("", "tz") for unit in ("", "_s", "_ms", "_us", "_ns")}
    | {"timestamp with time zone"},
}
_NULL_TYPES = ("NULL", '"null"', "sqlnull", "null")


@dataclass(frozen=True)
class LakeColumn:
    """A declared column."""

    name: str
    type: DuckDBPyType
    required: bool


@cache
def declared_tables() -> dict[str, list[LakeColumn]]:
    """Return the columns of every lake table, in the order of `build/lake.sql`."""
    with duckdb.connect(config={"threads": 1}) as database:
        run_file(database, "lake")
        tables = database.execute(
            "select table_name from duckdb_tables() where schema_name = 'lake' order by table_name"
        ).fetchall()
        return {table: declared_columns(database, table) for (table,) in tables}


def declared_columns(database: duckdb.DuckDBPyConnection, table: str) -> list[LakeColumn]:
    """Return the columns of a lake table, from a database that has run `build/lake.sql`."""
    declared = database.execute(
        'select name, type, "notnull" from pragma_table_info($1) order by cid', [f"lake.{table}"]
    ).fetchall()
    return [LakeColumn(name, database.sqltype(type_), required) for name, type_, required in declared]


def arrow_schema(table: str) -> pa.Schema:
    """Return the declared columns of a table as an Arrow schema, without `day`, which is part of the path."""
    columns = [column for column in declared_tables()[table] if column.name != "day"]
    return pa.schema([(column.name, _arrow_type(column.type)) for column in columns])


def is_accepted(actual: DuckDBPyType, declared: DuckDBPyType) -> bool:
    """Return whether values of a file's type keep their meaning under the declared type."""
    if actual.id in _NULL_TYPES:
        return True  # a column that holds only nulls has no type
    if declared.id == "list":
        return actual.id == "list" and is_accepted(_element(actual), _element(declared))
    if declared.id == "struct":
        return actual.id == "struct" and _is_accepted_struct(_fields(actual), _fields(declared))
    return actual.id in _ACCEPTED[declared.id]


def cast_expression(name: str, actual: DuckDBPyType, declared: DuckDBPyType) -> str:
    """Return the SQL expression that reads a column of a file as its declared type."""
    if declared.id != "timestamp":
        return f'"{name}"::{declared}'
    # A time with a zone becomes UTC, the zone of the session. Both casts drop nanoseconds.
    zoned = actual.id.startswith("timestamptz") or "time zone" in actual.id
    return f'"{name}"::timestamptz::timestamp' if zoned else f'"{name}"::timestamp'


def _is_accepted_struct(actual: dict[str, DuckDBPyType], declared: dict[str, DuckDBPyType]) -> bool:
    fields = {name.lower(): type_ for name, type_ in actual.items()}
    return all(is_accepted(fields[name], type_) for name, type_ in declared.items() if name in fields)


def _arrow_type(type_: DuckDBPyType) -> pa.DataType:
    if type_.id == "list":
        return pa.list_(_arrow_type(_element(type_)))
    if type_.id == "struct":
        return pa.struct([(name, _arrow_type(field)) for name, field in _fields(type_).items()])
    return _ARROW_TYPES[type_.id]


def _element(list_type: DuckDBPyType) -> DuckDBPyType:
    return _fields(list_type)["child"]


def _fields(type_: DuckDBPyType) -> dict[str, DuckDBPyType]:
    """Return the fields of a struct, or `child` of a list."""
    return cast(dict[str, DuckDBPyType], dict(type_.children))
