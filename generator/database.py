"""DuckDB and the SQL files of `build/`: a scratch database in which they run."""

import os
import tempfile
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from weakref import WeakSet

import duckdb
import jinja2
import pyarrow as pa

from generator.errors import BuildError, GeneratorError, SpaceError, SqlError, is_disk_full
from generator.storage import text
from generator.storage.catalogue import BLANK, SORTS, TEXT_FILTERS
from generator.templates import environment, packaged
from generator.threads import USUAL, Resources

# What DuckDB raises for SQL that is wrong, whatever the data is.
_SQL_ERRORS = (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException, duckdb.SyntaxException)
_OPEN: "WeakSet[Database]" = WeakSet()
_TEXT_FUNCTIONS = (
    *(text.fold, text.number_filter_key, text.number_sort_key),
    *(text.word_text, text.sign_text, text.base_name, text.short_name, text.face_name, text.name_key),
)


def sql_root() -> Path:
    """Return the folder of the SQL files: `build/` of the checkout, or its copy inside an installed wheel."""
    return packaged("build")


@cache
def sql_text(name: str, **values: Hashable) -> str:
    """Return the text of a file of `build/`, such as `views/cards`. Templates (`.sql.j2`) are rendered with values."""
    file = _file(name)
    if file.suffix == ".sql":
        return file.read_text(encoding="utf-8")
    with _own_faults(name):
        return _environment().get_template(f"{name}.sql.j2").render(values)


def _file(name: str) -> Path:
    plain = sql_root() / f"{name}.sql"
    return plain if plain.is_file() else plain.with_suffix(".sql.j2")


@cache
def _environment() -> jinja2.Environment:
    templates = environment(sql_root(), autoescape=False)
    templates.filters["quoted"] = quoted
    templates.globals |= {"sorts": SORTS, "text_filters": TEXT_FILTERS, "blank": BLANK}
    return templates


def sql_literal(text: str | Path) -> str:
    """Return a text, such as a path, as a literal of SQL. Use it where DuckDB takes no parameters."""
    return "'" + str(text).replace("'", "''") + "'"


def quoted(name: str) -> str:
    """Return the name of a column as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def run_file(connection: duckdb.DuckDBPyConnection, name: str, **values: Hashable) -> duckdb.DuckDBPyConnection:
    """Run a file of `build/`, and return the connection, which has its result. A template is rendered with values.

    A SqlError says that the file is wrong, a duckdb.Error that what it reads cannot be read.
    """
    with _own_faults(name):
        return connection.execute(sql_text(name, **values))


@contextmanager
def _own_faults(name: str) -> Iterator[None]:
    try:
        yield
    except (*_SQL_ERRORS, jinja2.TemplateError) as error:
        raise _sql_error(_file(name).relative_to(sql_root().parent).as_posix(), error) from error


def _sql_error(where: str, error: Exception) -> SqlError:
    fault = f"this is a fault of cardpress {version('cardpress')}, not of your data: please report this line"
    return SqlError(f"internal error in {where}: {_first_line(error)}: {fault}")


def query_fault(error: duckdb.Error, what: str, fault_of_data: type[GeneratorError]) -> GeneratorError:
    """Return the error for a query that failed: a fault of its data, unless disk, memory or the SQL is to blame.

    `what` failed, such as `price_guide: cannot be read`. A fault of the data is a LakeError or BuildError.
    """
    if is_disk_full(error):
        return temporary_folder_full()
    if isinstance(error, duckdb.OutOfMemoryException):
        advice = "free some on this machine, or pass a larger --memory to a command that has it"
        return BuildError(f"DuckDB may use too little memory ({_first_line(error)}): {advice}")
    if isinstance(error, _SQL_ERRORS):
        return _sql_error("a query", error)
    return fault_of_data(f"{what}: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _scratch_folder() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="cardpress-")
    except FileNotFoundError as error:  # each folder was tried
        tried = [os.environ.get("TMPDIR"), "/tmp", "/var/tmp", os.fspath(Path.cwd())]
        folders = ", ".join(filter(None, tried))
        raise SpaceError(f"no folder for temporary files can be written to ({folders}): name one by TMPDIR") from error


def temporary_folder_full() -> SpaceError:
    """Return the error for a full folder of temporary files, where a database has its scratch folder."""
    return SpaceError(
        f"the folder of temporary files {tempfile.gettempdir()} is full: free some space there, or set TMPDIR"
    )


def interrupt_queries() -> None:
    """Interrupt the queries that run in the open databases of this process. Each ends with an exception.

    A handler of a signal needs this. DuckDB notices the signal by itself, but then it waits for its threads, which
    finish the query first.
    """
    for database in list(_OPEN):
        database.interrupt()


class Database:
    """A scratch DuckDB database. Closing it deletes everything in it."""

    def __init__(self, resources: Resources = USUAL):
        self.lake_files: dict[str, Sequence[Any]] = {}  # that the view of a lake table reads
        self._folder = _scratch_folder()
        self.scratch = Path(self._folder.name)
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": resources.limit,
            "temp_directory": self._folder.name,
            "threads": resources.cores,
            # Never: in memory, a checkpoint only rewrites tables, in the query that follows large inserts.
            "checkpoint_threshold": "1TB",
        }
        try:
            self.connection = duckdb.connect(config=settings)
        except duckdb.Error as error:
            advice = ": see --memory, such as 2GB" if resources.memory else ""
            raise BuildError(f"DuckDB does not start ({_first_line(error)}){advice}") from error
        self.connection.execute("set TimeZone = 'UTC'")
        # DuckDB takes a spawned worker for an interactive session and would print its bar to standard output.
        self.connection.execute("set enable_progress_bar = false")
        _OPEN.add(self)
        for function in _TEXT_FUNCTIONS:
            self._register(function)
        self.run("macros", "lake")

    def close(self) -> None:
        _OPEN.discard(self)
        self.connection.close()
        self._folder.cleanup()

    def interrupt(self) -> None:
        """End the query that runs now, if there is one, with an exception in its thread."""
        with suppress(duckdb.ConnectionException):  # its thread has just closed it
            self.connection.interrupt()

    def part_of_memory(self, count: int) -> str:
        """Return one of so many equal parts of the memory that DuckDB may use, such as `1.000GiB`."""
        [(limit,)] = self.rows("select current_setting('memory_limit')")
        number, unit = limit.split()
        return f"{float(number) / count:.3f}{unit}"

    def limit(self, resources: Resources) -> None:
        self.connection.execute(f"set threads = {resources.cores}")
        self.connection.execute(f"set memory_limit = '{resources.limit}'")

    @contextmanager
    def one_thread(self) -> Iterator[None]:
        """Let DuckDB use one thread while the body runs, for queries whose result must not depend on their order."""
        [(threads,)] = self.rows("select current_setting('threads')")
        self.connection.execute("set threads = 1")
        try:
            yield
        finally:
            self.connection.execute(f"set threads = {threads}")

    def run(self, *names: str) -> None:
        """Run files of `build/`, in this order; see `run_file` for the errors."""
        for name in names:
            run_file(self.connection, name)

    def answer(self, name: str, **values: Hashable) -> pa.Table:
        """Return the result of a file of `build/` that is one query; see `run_file` for values and errors."""
        with _own_faults(name):
            return self.table(sql_text(name, **values))

    def set(self, **variables: str | int | Sequence[str] | None) -> None:
        """Set variables that files of `build/` read with getvariable."""
        for name, value in variables.items():
            self.connection.execute(f"set variable {name} = $1", [value])

    def insert(self, table: str, query: str, batch: pa.Table, *parameters: str) -> None:
        """Insert the result of a query into a table. The query may read the Arrow table as `batch`."""
        self.connection.register("batch", batch)
        self.connection.execute(f"insert into {table} {query}", list(parameters))
        self.connection.unregister("batch")

    def table(self, query: str) -> pa.Table:
        return self.connection.sql(query).to_arrow_table()

    def register(self, tables: Mapping[str, pa.Table]) -> None:
        for name, table in tables.items():
            self.connection.register(name, table)

    @contextmanager
    def registered(self, **tables: pa.Table) -> Iterator[None]:
        self.register(tables)
        try:
            yield
        finally:
            for name in tables:
                self.connection.unregister(name)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()

    def _register(self, function: Callable[[str], str]) -> None:
        """Make a Python function callable from SQL. It runs once for each distinct text of a batch."""

        def vectorised(texts: Any) -> Any:
            encoded = (texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts).dictionary_encode()
            results = pa.array([function(text) for text in encoded.dictionary.to_pylist()], pa.string())
            return results.take(encoded.indices)

        arrow_function: Any = "arrow"  # the type stubs of DuckDB lack this value of its enum
        self.connection.create_function(function.__name__, vectorised, ["VARCHAR"], "VARCHAR", type=arrow_function)
