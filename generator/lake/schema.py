"""The declared tables of `build/lake.sql`, and whether a Parquet file holds what its table declares."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb

from generator.errors import LakeError
from generator.lake.lake import LakeFile

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
_ONE_FILE = "read_parquet($1, hive_partitioning = false)"
_IN_WORDS = {
    "bigint": "an integer",
    "double": "a number",
    "varchar": "text",
    "timestamp": "a timestamp",
    "list": "a list",
}


@dataclass(frozen=True)
class LakeColumn:
    """A declared column."""

    name: str
    type: duckdb.sqltypes.DuckDBPyType
    required: bool


class LakeSchema:
    """What each table declares, read back from the database in which `build/lake.sql` ran."""

    def __init__(self, connection: duckdb.DuckDBPyConnection):
        self._connection = connection
        self.tables: dict[str, list[LakeColumn]] = {}
        declared = connection.execute(
            "select table_name, column_name, data_type, not is_nullable from duckdb_columns() "
            "where schema_name = 'lake' order by table_name, column_index"
        ).fetchall()
        for table, name, type_, required in declared:
            self.tables.setdefault(table, []).append(LakeColumn(name, duckdb.sqltype(type_), required))

    def check(self, table: str, files: Sequence[LakeFile]) -> list[tuple[dict[str, str], list[str]]]:
        """Check files against their table; group those of the same columns.

        Returns:
            Per group: for each declared column the expression that reads it, and the paths.

        Raises:
            LakeError: a file is no Parquet, lacks a required column, or holds one of a wrong type.
        """
        groups: dict[tuple, tuple[dict[str, str], list[str]]] = {}
        for path, found in self._columns_of(table, [file.path for file in files]):
            key = tuple((name, str(type_)) for name, type_ in found.items())
            if key not in groups:
                groups[key] = (self._expressions(table, path, found), [])
            groups[key][1].append(path)
        return list(groups.values())

    def _columns_of(self, table: str, paths: list[str]) -> Iterator[tuple[str, dict]]:
        """Names (lower case) and types of the top-level columns of each file."""
        for path in paths:
            try:
                described = self._connection.execute(
                    f"select column_name, column_type from (describe select * from {_ONE_FILE})",
                    [path],
                ).fetchall()
            except duckdb.Error as error:
                first = str(error).strip().splitlines()[0]
                raise LakeError(f"{table}: {path} cannot be read as Parquet: {first}") from error
            yield path, {name.lower(): duckdb.sqltype(type_) for name, type_ in described}

    def _expressions(self, table: str, path: str, found: dict) -> dict[str, str]:
        expressions = {}
        for column in self.tables[table]:
            actual = found.get(column.name)
            if column.name == "day":
                expressions["day"] = "day"  # the partition's, whatever the file says
            elif actual is None and column.required:
                raise LakeError(
                    f"{table}: {path} lacks the required column {column.name}: all of its {self._rows(path)} rows"
                )
            elif actual is None:
                expressions[column.name] = f"null::{column.type}"
            elif not _fits(actual, column.type):
                raise LakeError(self._wrong_type(table, path, column, actual))
            else:
                expressions[column.name] = _cast(column.name, actual, column.type)
        return expressions

    def _wrong_type(self, table: str, path: str, column: LakeColumn, actual) -> str:
        rows, example = self._connection.execute(
            f'select count("{column.name}"), min("{column.name}"::varchar) from {_ONE_FILE}',
            [path],
        ).fetchone()
        wanted = _IN_WORDS.get(column.type.id, str(column.type))
        return f"{table}: column {column.name} of {path} holds {actual}, not {wanted}: {rows} rows, such as {example}"

    def _rows(self, path: str) -> int:
        return self._connection.execute(f"select count(*) from {_ONE_FILE}", [path]).fetchone()[0]


def _fits(actual, declared) -> bool:
    """Whether values of one DuckDB type can stand for another's without a change of meaning."""
    if actual.id in ("NULL", '"null"', "sqlnull", "null"):
        return True  # a column of nothing but nulls carries no type
    if declared.id == "list":
        return actual.id == "list" and _fits(actual.children[0][1], declared.children[0][1])
    if declared.id == "struct":
        found = {name.lower(): type_ for name, type_ in actual.children} if actual.id == "struct" else None
        return found is not None and all(_fits(found[n], t) for n, t in declared.children if n in found)
    return actual.id in _ACCEPTED[declared.id]


def _cast(name: str, actual, declared) -> str:
    if declared.id == "timestamp":
        # a zoned time becomes UTC, in which the session runs; nanoseconds first lose what no column keeps
        zoned = actual.id.startswith("timestamptz") or "time zone" in actual.id
        return f'"{name}"::timestamptz::timestamp' if zoned else f'"{name}"::timestamp'
    return f'"{name}"::{declared}'
