"""A database over the prices that a build has stored, for the SQL of `build/report/`."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from edge_auth.builds import layer_names
from edge_auth.builds.builds import Build
from edge_auth.builds.catalogue import PRICES
from generator.database import Database, query_fault, sql_literal
from generator.errors import BuildError
from generator.lake.prices_and_conditions import PRICE_FIGURES
from generator.threads import Resources

# Columns that builds of older versions lack.
_ADDED_COLUMNS = {"game": "varchar", "listing_day": "date", "from_price": "decimal(18, 2)"} | {
    f"{figure}{finish}": "decimal(18, 2)" for finish in ("", "_holo") for figure in PRICE_FIGURES
}


@contextmanager
def prices_database(build: Build, resources: Resources) -> Iterator[Database]:
    """Yield a database with the view `prices`, the prices of a build, and the variable `as_of`.

    Raises:
        BuildError: DuckDB cannot read the prices, before or in the body.
        StoreError: The prices cannot be fetched.
    """
    path = build.layers[layer_names.CATALOGUE].file(PRICES)
    db = Database(resources)
    try:
        db.set(as_of=build.as_of.isoformat())
        _open_prices(db, sql_literal(path))
        yield db
    except duckdb.Error as error:
        raise query_fault(error, f"the prices of build {build.id} cannot be read", BuildError) from error
    finally:
        db.close()


def _open_prices(db: Database, literal: str) -> None:
    present = {name for name, *_ in db.rows(f"describe from read_parquet({literal})")}
    missing = "".join(f", null::{kind} as {name}" for name, kind in _ADDED_COLUMNS.items() if name not in present)
    db.connection.execute(f"create view prices as select *{missing} from read_parquet({literal})")
