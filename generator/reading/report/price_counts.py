"""Counts over the prices of a build, by the SQL of `build/report/`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb

from edge_auth.contract import names
from edge_auth.contract.builds import Build
from generator.database import Database, sql_literal
from generator.errors import BuildError
from generator.lake.vocabulary import PRICE_FIGURES

_VIEWS = ("coverage", "distribution", "ages", "game_columns")
# Columns that builds of older versions lack.
_ADDED_COLUMNS = {"game": "varchar", "listing_day": "date", "from_price": "decimal(18, 2)"} | {
    f"{figure}{finish}": "decimal(18, 2)" for finish in ("", "_holo") for figure in PRICE_FIGURES
}

# A row of a view of `build/report/`.
Row = dict[str, Any]


@dataclass(frozen=True)
class PriceCounts:
    """The rows of the views of `build/report/`."""

    coverage: list[Row]
    distribution: list[Row]
    ages: list[Row]
    games: list[Row]


def count_prices(build: Build, *, threads: int | None, memory: str | None) -> PriceCounts:
    """Count the prices of a build.

    Args:
        threads: How many threads DuckDB may use; None for one per core.
        memory: How much memory DuckDB may use before it spills to disk; None for the default.

    Raises:
        BuildError: DuckDB cannot read the prices.
        StoreError: The prices cannot be fetched.
    """
    with translated_errors(build), prices_database(build, threads, memory) as db:
        db.run(*(f"report/{view}" for view in _VIEWS))
        return PriceCounts(*(db.table(f"from {view}").to_pylist() for view in _VIEWS))


@contextmanager
def prices_database(build: Build, threads: int | None, memory: str | None) -> Iterator[Database]:
    """Yield a database with the view `prices`, the prices of a build, and the variable `as_of`.

    Raises:
        StoreError: The prices cannot be fetched.
    """
    path = build.layers[names.CATALOGUE].file(names.PRICES_FILE)
    db = Database(threads, memory)
    try:
        db.set(as_of=build.as_of.isoformat())
        _open_prices(db, sql_literal(path))
        yield db
    finally:
        db.close()


@contextmanager
def translated_errors(build: Build) -> Iterator[None]:
    """Raise BuildError for an error of DuckDB inside the `with` block."""
    try:
        yield
    except duckdb.Error as error:
        raise BuildError(f"the prices of build {build.id} cannot be read: {str(error).splitlines()[0]}") from error


def _open_prices(db: Database, literal: str) -> None:
    present = {name for name, *_ in db.rows(f"describe from read_parquet({literal})")}
    missing = "".join(f", null::{kind} as {name}" for name, kind in _ADDED_COLUMNS.items() if name not in present)
    db.connection.execute(f"create view prices as select *{missing} from read_parquet({literal})")
