"""DuckDB over the lake: opens the files of a table as raw.<table>, runs the SQL of `build/`, and its checks."""

import os
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

import duckdb
import jinja2
import pyarrow as pa

from edge_auth.contract.text import fold, number_filter_key, number_sort_key, word_text
from generator.errors import LakeError
from generator.lake.lake import LakeFile
from generator.lake.schema import LakeSchema
from generator.settings import MEMORY

_DAY_OF_FILE = r"regexp_extract(lake_file, '/day=([0-9]{4}-[0-9]{2}-[0-9]{2})/[^/]*$', 1)::date"


def sql_root() -> Path:
    """The folder of the SQL: `build/` of the checkout, or its copy inside an installed wheel."""
    packaged = Path(str(files("generator"))) / "_build"
    return packaged if packaged.is_dir() else Path(__file__).parents[1] / "build"


@cache
def sql_text(name: str) -> str:
    """Text of a file of `build/`, rendered where it is a template, such as `views/cards` or `checks/products`."""
    plain = sql_root() / f"{name}.sql"
    if plain.is_file():
        return plain.read_text(encoding="utf-8")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(sql_root()), undefined=jinja2.StrictUndefined, autoescape=False
    )
    return environment.get_template(f"{name}.sql.j2").render()


class Database:
    """A scratch DuckDB database; everything in it is thrown away at the end.

    Args:
        threads: how many threads DuckDB may use.
        memory: how much memory DuckDB may use before it spills to disk, such as `2GB`; None: the default.
    """

    def __init__(self, threads: int | None = None, memory: str | None = None):
        self._folder = tempfile.TemporaryDirectory(prefix="cardpress-")
        self.scratch = Path(self._folder.name)
        settings = {
            "memory_limit": memory or MEMORY,
            "temp_directory": self._folder.name,
            "threads": threads or os.cpu_count(),
        }
        self.connection = duckdb.connect(config=settings)
        self.connection.execute("set TimeZone = 'UTC'")
        # it takes a worker that was spawned for a person's session, and writes to standard output
        self.connection.execute("set enable_progress_bar = false")
        for function in (fold, number_filter_key, number_sort_key, word_text):
            self._register(function)
        self.run("macros", "lake")
        self.schema = LakeSchema(self.connection)

    def close(self) -> None:
        """Drop the database and what it spilled."""
        self.connection.close()
        self._folder.cleanup()

    def run(self, *names: str) -> None:
        """Run files of `build/`, in this order."""
        for name in names:
            self.connection.execute(sql_text(name))

    def set(self, **variables: str | int) -> None:
        """Set variables that files of `build/` ask for with getvariable."""
        for name, value in variables.items():
            self.connection.execute(f"set variable {name} = $1", [value])

    def insert(self, table: str, query: str, batch: pa.Table, *parameters: str) -> None:
        """Insert what a query with parameters makes of the Arrow table `batch`."""
        self.connection.register("batch", batch)
        self.connection.execute(f"insert into {table} {query}", list(parameters))
        self.connection.unregister("batch")

    def table(self, query: str, *, cursor: duckdb.DuckDBPyConnection | None = None) -> pa.Table:
        """The result of a query as one Arrow table."""
        return (cursor or self.connection).sql(query).to_arrow_table()

    def rows(self, query: str) -> list[tuple]:
        """The result of a small query as Python tuples."""
        return self.connection.execute(query).fetchall()

    def open_raw(self, table: str, lake_files: Sequence[LakeFile], only: str = "") -> None:
        """Make raw.<table> of these files, with the columns and types of `build/lake.sql`.

        Args:
            only: which rows, as a condition; '' for all.

        Raises:
            LakeError: a file is no Parquet, lacks a required column or holds a column of a wrong type.
        """
        groups = self.schema.check(table, lake_files)
        selects = [self._select(table, columns, paths) for columns, paths in groups]
        empty = f"select * from lake.{table}"  # the declared table itself holds no rows
        rows = "\nunion all\n".join([*selects, empty])
        where = f" where {only}" if only else ""
        self.connection.execute(f"create or replace view raw.{table} as select * from ({rows}){where}")

    def check(self, tables: Iterable[str]) -> None:
        """Run the checks of tables over what is open as raw.

        Raises:
            LakeError: a rule is broken, in one line with table, column, number of rows and an example.
        """
        for table in tables:
            try:
                broken = self.rows(sql_text(f"checks/{table}"))
            except duckdb.Error as error:
                raise LakeError(f"{table}: cannot be read: {_first_line(error)}") from error
            if broken:
                _, column, rule, rows, example = broken[0]
                raise LakeError(f"{table}: column {column} {rule}: {rows} row{'s' * (rows != 1)}, such as {example}")

    def _select(self, table: str, columns: dict[str, str], paths: list[str]) -> str:
        listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
        chosen = ",\n".join(
            f"{_DAY_OF_FILE} as day" if name == "day" else f"{expression} as {name}"
            for name, expression in columns.items()
        )
        return f"select {chosen}\nfrom read_parquet([{listed}], filename = 'lake_file', hive_partitioning = false)"

    def _register(self, function) -> None:
        def vectorised(texts):
            encoded = (texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts).dictionary_encode()
            folded = pa.array([function(text) for text in encoded.dictionary.to_pylist()], pa.string())
            return folded.take(encoded.indices)

        self.connection.create_function(function.__name__, vectorised, ["VARCHAR"], "VARCHAR", type="arrow")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
