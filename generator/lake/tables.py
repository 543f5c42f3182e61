"""The tables of a lake: the columns that `build/lake.sql` declares, and files as views raw.<table> that are checked.

The declared columns are available as DuckDB and as Arrow types. A file may have some other types, whose values keep
their meaning. The rows of a view are checked against the rules of their table in `build/checks/`. Several readers and
writers of lake tables share the largest price and the conditions.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple, cast

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from duckdb.sqltypes import DuckDBPyType

from generator.database import Database, query_fault, run_file, sql_literal
from generator.errors import LakeError
from generator.lake.files import LakeFile

# In euros. `build/checks/rules.j2` refuses larger numbers.
MAX_PRICE = 1e13
# The conditions of an offer: code and name, best first.
CONDITIONS = {
    "MT": "Mint",
    "NM": "Near Mint",
    "EX": "Excellent",
    "GD": "Good",
    "LP": "Light Played",
    "PL": "Played",
    "PO": "Poor",
}
# The most characters of a text, by column; of every other text `LONGEST_TEXT`. Longer ones could not be asked for.
LONGEST_TEXTS = {"name": 500, "category": 200, "rarity": 200, "number": 200, "game": 200}
LONGEST_TEXT = 2000
# Tables with long lists of offers: the SQL file that makes a table of their numbers, which the rules of the table read.
OFFER_SUMMARIES = {"filtered_checks": "sources/check_summaries", "watch_checks": "sources/watch_summaries"}
TIMESTAMP = pa.timestamp("us")  # UTC, without a zone

_INTEGERS = {
    sign + name for sign in ("", "u") for name in ("tinyint", "smallint", "int", "integer", "bigint", "hugeint")
}
_NUMBERS = _INTEGERS | {"float", "double", "decimal"}
_TIMES = {f"timestamp{zone}{unit}" for zone in ("", "tz") for unit in ("", "_s", "_ms", "_us", "_ns")}
# By type that a column declares: the Arrow type, the types of files that keep their meaning, and words for messages.
_TYPES: dict[str, tuple[pa.DataType, set[str], str]] = {
    "bigint": (pa.int64(), _INTEGERS, "an integer"),
    "double": (pa.float64(), _NUMBERS, "a number"),
    "varchar": (pa.string(), {"varchar", "enum"}, "text"),
    "timestamp": (TIMESTAMP, _TIMES | {"timestamp with time zone"}, "a timestamp"),
}
_NULL_TYPES = ("NULL", '"null"', "sqlnull", "null")

_DAY_OF_FILE = r"regexp_extract(lake_file, '/day=([0-9]{4}-[0-9]{2}-[0-9]{2})/[^/]*$', 1)::date"
_ONE_FILE = "read_parquet($1, hive_partitioning = false)"
# By column of a file or of a table.
_Types = dict[str, DuckDBPyType]
_Expressions = dict[str, str]


class LakeColumn(NamedTuple):
    """A declared column."""

    name: str
    type: DuckDBPyType
    required: bool


class BrokenRule(NamedTuple):
    """A rule of a lake table that rows break: how many, and an example."""

    column: str
    rule: str
    rows: int
    example: str

    def __str__(self) -> str:
        return f"column {self.column} {self.rule}: {self.rows} row{'s' * (self.rows != 1)}, such as {self.example}"


@cache
def declared_tables() -> dict[str, list[LakeColumn]]:
    """Return the columns of every lake table, in the order of `build/lake.sql`."""
    with duckdb.connect(config={"threads": 1}) as database:
        run_file(database, "lake")
        declared: dict[str, list[LakeColumn]] = {}
        for table, name, type_, is_nullable in database.execute(
            "select table_name, column_name, data_type, is_nullable from duckdb_columns() where schema_name = 'lake' "
            "order by table_name, column_index"
        ).fetchall():
            declared.setdefault(table, []).append(LakeColumn(name, database.sqltype(type_), not is_nullable))
        return declared


def arrow_schema(table: str) -> pa.Schema:
    """Return the declared columns of a table as an Arrow schema, without `day`, which is part of the path."""
    columns = [column for column in declared_tables()[table] if column.name != "day"]
    return pa.schema([(column.name, _arrow_type(column.type)) for column in columns])


def open_table(database: Database, table: str, files: Sequence[LakeFile]) -> None:
    """Create the view raw.<table> over these files, with the columns and types of `build/lake.sql`."""
    whole = [file for file in files if not file.held]
    selects = [_select(expressions, paths) for expressions, paths in check_columns(database, table, whole)]
    for file in (file for file in files if file.held):
        held = f"held_{file.identity}"
        database.connection.register(held, pa.table({"id": pa.array(file.held, pa.int64())}))
        [(expressions, paths)] = check_columns(database, table, [file])
        is_held = f"coalesce(id_product in (select id from {held}), false)"
        selects.append(f"{_select(expressions, paths)}\nwhere not {is_held}")
    union, declared = "\nunion all\n", f"select * from lake.{table}"  # the declared table has the columns and no rows
    rows = f"select * from ({union.join([*selects, declared])})"
    if table == "expansions":  # an import named it by its id, and another file has its name
        rows += " qualify not (name = 'Expansion ' || id and count(*) over (partition by id) > 1)"
    database.connection.execute(f"create or replace view raw.{table} as {rows}")
    database.lake_files[table] = [file for file in files if file.path]


def summarise_offers(database: Database, table: str) -> None:
    """Make the table of numbers from the open view raw.<table> of a table in `OFFER_SUMMARIES`. Its rules read it."""
    try:
        database.run(OFFER_SUMMARIES[table])
    except duckdb.Error as error:
        raise query_fault(error, f"{table}: cannot be read", LakeError) from error


def check_rules(database: Database, tables: Iterable[str]) -> None:
    """Run the rules of `build/checks/` over the open views of these tables."""
    for table in tables:
        try:
            broken = broken_rules(database.connection, table)
        except duckdb.Error as error:
            raise query_fault(error, f"{table}: cannot be read", LakeError) from error
        if broken:
            raise LakeError(f"{table}: {broken[0]}{_repeating_files(database, table, broken[0])}")


def _repeating_files(database: Database, table: str, broken: BrokenRule) -> str:
    """Return the files whose rows repeat keys of one another, as the end of a message; '' if they are of one file."""
    files = database.lake_files.get(table, [])
    if "unique" not in broken.rule or len(files) < 2:
        return ""
    key = f"fold({broken.column})" if broken.column == "slug" else broken.column
    rows = " union all ".join(
        _select({"key": key, "day": expressions.get("day", "null::date"), "lake_file": "lake_file"}, paths)
        for expressions, paths in check_columns(database, table, files)
    )
    repeated = f"select lake_file, min(lake_file) over same <> max(lake_file) over same as is_repeated from ({rows})"
    query = f"select distinct lake_file from ({repeated} window same as (partition by key, day)) where is_repeated"
    names = {file.path: file.name for file in files}
    found = sorted(names[path] for (path,) in database.rows(query))
    more = f" and {len(found) - 2} more" if len(found) > 2 else ""
    return f"; the same rows are in {' and in '.join(found[:2])}{more}: keep one of them" if found else ""


def broken_rules(database: duckdb.DuckDBPyConnection, table: str) -> list[BrokenRule]:
    """Return the rules of `build/checks/` that the rows of the view raw.<table> break."""
    # The other rules fold and compare texts, so they are asked only if no text is too long.
    rows = _long_texts(database, table) or run_file(database, f"checks/{table}").fetchall()
    return [BrokenRule(*row[1:]) for row in rows]


def _long_texts(database: duckdb.DuckDBPyConnection, table: str) -> list[tuple[Any, ...]]:
    found = database.execute("select name, type from pragma_table_info($1) order by cid", [f"raw.{table}"]).fetchall()
    columns = [(name, type_) for name, type_ in found if name != "day"]
    texts = tuple((name, longest_text(name)) for name, type_ in columns if type_ == "VARCHAR")
    if not texts:
        return []
    summaries = OFFER_SUMMARIES.get(table, "").removeprefix("sources/")
    values = {"table": table, "key": columns[0][0], "texts": texts, "offers": LONGEST_TEXT, "summaries": summaries}
    return run_file(database, "checks/long_texts", **values).fetchall()


def longest_text(column: str) -> int:
    """Return the most characters that a text of a column has."""
    return LONGEST_TEXTS.get(column, LONGEST_TEXT)


def check_columns(database: Database, table: str, files: Sequence[LakeFile]) -> list[tuple[_Expressions, list[str]]]:
    """Check the columns of files. Return, for each group that has the same, their SQL expressions and the paths."""
    # Most files of a table have the same schema, and DuckDB describes only the first of each: a fifth of the time.
    groups: dict[str, tuple[_Expressions, list[str]]] = {}
    for file in files:
        schema = _parquet_schema(file.path)
        if schema not in groups:
            types = _described(database, table, file.path)
            schema = schema or str(types)
            groups.setdefault(schema, (_expressions(database, table, file.path, types), []))
        groups[schema][1].append(file.path)
    return list(groups.values())


def is_accepted(actual: DuckDBPyType, declared: DuckDBPyType) -> bool:
    """Return whether values of a file's type keep their meaning under the declared type."""
    if actual.id in _NULL_TYPES:
        return True  # a column that holds only nulls has no type
    if declared.id not in ("list", "struct"):
        return actual.id in _TYPES[declared.id][1]
    if actual.id != declared.id:
        return False
    found = {name.lower(): type_ for name, type_ in _fields(actual).items()}
    return all(is_accepted(found[name], type_) for name, type_ in _fields(declared).items() if name in found)


def _cast_expression(name: str, actual: DuckDBPyType, declared: DuckDBPyType) -> str:
    if declared.id != "timestamp":
        return f'"{name}"::{declared}'
    # A time with a zone becomes UTC, the zone of the session. Both casts drop nanoseconds.
    zoned = actual.id.startswith("timestamptz") or "time zone" in actual.id
    return f'"{name}"::timestamptz::timestamp' if zoned else f'"{name}"::timestamp'


def _parquet_schema(path: str) -> str:
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
    _refuse_repeated(table, path)
    return {name.lower(): database.connection.sqltype(type_) for name, type_ in described}


def _refuse_repeated(table: str, path: str) -> None:
    """Raise LakeError if a file has a declared column twice, in whatever case: DuckDB would take the first."""
    with suppress(pa.ArrowException, OSError):
        names = Counter(name.lower() for name in pq.read_schema(path).names)
        for column in declared_tables()[table]:
            if names[column.name] > 1:
                raise LakeError(f"{table}: {path} has the column {column.name} {names[column.name]} times: leave one")


def _expressions(database: Database, table: str, path: str, types: _Types) -> _Expressions:
    expressions = {}
    for column in declared_tables()[table]:
        actual = types.get(column.name)
        if column.name == "day":
            expressions["day"] = _DAY_OF_FILE  # the day of the partition, also where the file has such a column
        elif actual is None:
            expressions[column.name] = _missing(database, table, path, column)
        elif not is_accepted(actual, column.type):
            raise LakeError(_wrong_type(database, table, path, column, actual))
        else:
            expressions[column.name] = _cast_expression(column.name, actual, column.type)
    return expressions


def _missing(database: Database, table: str, path: str, column: LakeColumn) -> str:
    if column.required:
        [(rows,)] = database.connection.execute(f"select count(*) from {_ONE_FILE}", [path]).fetchall()
        raise LakeError(f"{table}: {path} lacks the required column {column.name}: all of its {rows} rows")
    return f"null::{column.type}"


def _wrong_type(database: Database, table: str, path: str, column: LakeColumn, actual: DuckDBPyType) -> str:
    query = f'select count("{column.name}"), left(min("{column.name}"::varchar), 50) from {_ONE_FILE}'
    [(rows, example)] = database.connection.execute(query, [path]).fetchall()
    declared = "a list" if column.type.id == "list" else _TYPES[column.type.id][2]
    return f"{table}: column {column.name} of {path} holds {actual}, not {declared}: {rows} rows, such as {example}"


def _select(expressions: _Expressions, paths: list[str]) -> str:
    listed = ", ".join(map(sql_literal, paths))
    columns = ",\n".join(f"{expression} as {name}" for name, expression in expressions.items())
    return f"select {columns}\nfrom read_parquet([{listed}], filename = 'lake_file', hive_partitioning = false)"


def _arrow_type(type_: DuckDBPyType) -> pa.DataType:
    if type_.id == "list":
        return pa.list_(_arrow_type(_fields(type_)["child"]))
    if type_.id == "struct":
        return pa.struct([(name, _arrow_type(field)) for name, field in _fields(type_).items()])
    return _TYPES[type_.id][0]


def _fields(type_: DuckDBPyType) -> dict[str, DuckDBPyType]:
    """Return the fields of a struct, or `child` of a list."""
    return cast(dict[str, DuckDBPyType], dict(type_.children))
