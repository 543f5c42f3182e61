"""Opens lake files as views raw.<table> of a database, and checks them against the rules of their table."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from duckdb.sqltypes import DuckDBPyType

from generator.database import Database, query_fault, run_file, sql_literal
from generator.errors import LakeError
from generator.lake.files import LakeFile
from generator.lake.schema import LakeColumn, cast_expression, declared_columns, is_accepted

_DAY_OF_FILE = r"regexp_extract(lake_file, '/day=([0-9]{4}-[0-9]{2}-[0-9]{2})/[^/]*$', 1)::date"
_ONE_FILE = "read_parquet($1, hive_partitioning = false)"
_TYPES_IN_WORDS = {
    "bigint": "an integer",
    "double": "a number",
    "varchar": "text",
    "timestamp": "a timestamp",
    "list": "a list",
}

# Tables with long lists of offers: the SQL file that makes a table of their numbers, which the rules of the table read.
OFFER_SUMMARIES = {"filtered_checks": "sources/check_summaries", "watch_checks": "sources/watch_summaries"}


class BrokenRule(NamedTuple):
    """A rule of a lake table that rows break: how many, and an example."""

    column: str
    rule: str
    rows: int
    example: str

    @property
    def is_repetition(self) -> bool:
        """Whether the rule is that a key is unique."""
        return "unique" in self.rule

    def __str__(self) -> str:
        return f"column {self.column} {self.rule}: {self.rows} row{'s' * (self.rows != 1)}, such as {self.example}"


_Types = dict[str, DuckDBPyType]
_Expressions = dict[str, str]


def open_table(database: Database, table: str, files: Sequence[LakeFile]) -> None:
    """Create the view raw.<table> over these files, with the columns and types of `build/lake.sql`.

    Raises:
        LakeError: A file is no Parquet, lacks a required column or holds a column of a wrong type.
    """
    whole = [file for file in files if not file.held]
    selects = [_select(expressions, paths) for expressions, paths in check_columns(database, table, whole)]
    for file in files:
        if file.held:
            held = f"held_{file.identity}"
            database.connection.register(held, pa.table({"id": pa.array(file.held, pa.int64())}))
            [(expressions, paths)] = check_columns(database, table, [file])
            selects.append(
                f"{_select(expressions, paths)}\nwhere not coalesce(id_product in (select id from {held}), false)"
            )
    declared = f"select * from lake.{table}"  # the declared table has the columns and no rows
    rows = "\nunion all\n".join([*selects, declared])
    rows = f"select * from ({rows})"
    if table == "expansions":  # an import named it by its id, and another file has its name
        rows += " qualify not (name = 'Expansion ' || id and count(*) over (partition by id) > 1)"
    database.connection.execute(f"create or replace view raw.{table} as {rows}")


def summarise_offers(database: Database, table: str) -> None:
    """Make the table of numbers from the open view raw.<table> of a table in `OFFER_SUMMARIES`. Its rules read it.

    Raises:
        LakeError: A file cannot be read.
    """
    try:
        database.run(OFFER_SUMMARIES[table])
    except duckdb.Error as error:
        raise query_fault(error, f"{table}: cannot be read", LakeError) from error


def check_rules(database: Database, tables: Iterable[str]) -> None:
    """Run the rules of `build/checks/` over the open views of these tables.

    Raises:
        LakeError: A rule is broken. The message names table, column, number of rows and an example.
    """
    for table in tables:
        try:
            broken = broken_rules(database.connection, table)
        except duckdb.Error as error:
            raise query_fault(error, f"{table}: cannot be read", LakeError) from error
        if broken:
            raise LakeError(f"{table}: {broken[0]}")


def broken_rules(database: duckdb.DuckDBPyConnection, table: str) -> list[BrokenRule]:
    """Return the rules of `build/checks/` that the rows of the view raw.<table> break."""
    return [BrokenRule(*row[1:]) for row in run_file(database, f"checks/{table}").fetchall()]


def check_columns(database: Database, table: str, files: Sequence[LakeFile]) -> list[tuple[_Expressions, list[str]]]:
    """Check the columns of files against their table, and group files that have the same columns.

    Returns:
        For each group, the SQL expression of each declared column, and the paths of the files.

    Raises:
        LakeError: A file is no Parquet, lacks a required column or holds a column of a wrong type.
    """
    groups: dict[tuple[tuple[str, str], ...], tuple[_Expressions, list[str]]] = {}
    for path, types in _file_types(database, table, files):
        key = tuple((name, str(type_)) for name, type_ in types.items())
        if key not in groups:
            groups[key] = (_expressions(database, table, path, types), [])
        groups[key][1].append(path)
    return list(groups.values())


def _file_types(database: Database, table: str, files: Sequence[LakeFile]) -> Iterator[tuple[str, _Types]]:
    """Yield each path with the names (lower case) and types of its top-level columns.

    Most files of a table have the same schema, and DuckDB describes only the first file of each: a fifth of the time.
    """
    for file in files:
        schema = _schema(file.path)
        described = database.described.get(schema) if schema else None
        if described is None:
            described = _described(database, table, file.path)
        if schema:
            database.described[schema] = described
        yield file.path, described


def _schema(path: str) -> str:
    """Return the Parquet schema of a file as text. '' for a file that DuckDB should examine."""
    try:
        return str(pq.read_metadata(path).schema).partition("\n")[2]  # the first line is the address of the object
    except (pa.ArrowException, OSError):
        return ""


def _described(database: Database, table: str, path: str) -> _Types:
    try:
        described = database.connection.execute(
            f"select column_name, column_type from (describe select * from {_ONE_FILE})", [path]
        ).fetchall()
    except duckdb.Error as error:
        raise query_fault(error, f"{table}: {path} cannot be read as Parquet", LakeError) from error
    return {name.lower(): database.connection.sqltype(type_) for name, type_ in described}


def _expressions(database: Database, table: str, path: str, types: _Types) -> _Expressions:
    expressions = {}
    for column in declared_columns(database.connection, table):
        actual = types.get(column.name)
        if column.name == "day":
            expressions["day"] = _DAY_OF_FILE  # the day of the partition, also where the file has such a column
        elif actual is None:
            expressions[column.name] = _missing(database, table, path, column)
        elif not is_accepted(actual, column.type):
            raise LakeError(_wrong_type(database, table, path, column, actual))
        else:
            expressions[column.name] = cast_expression(column.name, actual, column.type)
    return expressions


def _missing(database: Database, table: str, path: str, column: LakeColumn) -> str:
    if column.required:
        [(rows,)] = database.connection.execute(f"select count(*) from {_ONE_FILE}", [path]).fetchall()
        raise LakeError(f"{table}: {path} lacks the required column {column.name}: all of its {rows} rows")
    return f"null::{column.type}"


def _wrong_type(database: Database, table: str, path: str, column: LakeColumn, actual: DuckDBPyType) -> str:
    query = f'select count("{column.name}"), min("{column.name}"::varchar) from {_ONE_FILE}'
    [(rows, example)] = database.connection.execute(query, [path]).fetchall()
    declared = _TYPES_IN_WORDS.get(column.type.id, str(column.type))
    return f"{table}: column {column.name} of {path} holds {actual}, not {declared}: {rows} rows, such as {example}"


def _select(expressions: _Expressions, paths: list[str]) -> str:
    listed = ", ".join(map(sql_literal, paths))
    columns = ",\n".join(f"{expression} as {name}" for name, expression in expressions.items())
    return f"select {columns}\nfrom read_parquet([{listed}], filename = 'lake_file', hive_partitioning = false)"
