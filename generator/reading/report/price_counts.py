"""PriceCounts over the prices that a build keeps, a row per product: DuckDB reads them column by column, in batches."""

from dataclasses import dataclass

import duckdb

from edge_auth.contract import names
from edge_auth.contract.builds import Build
from generator.build.layers.catalogue import PRICES
from generator.database import Database
from generator.errors import BuildError

VIEWS = ("coverage", "distribution", "ages")
# What builds of older versions did not keep.
_LATER = {"game": "varchar", "listing_day": "date", "from_price": "decimal(18, 2)"}


@dataclass(frozen=True)
class PriceCounts:
    """Rows of the views of `build/report/`."""

    coverage: list[dict]
    distribution: list[dict]
    ages: list[dict]


def count_prices(build: Build, *, threads: int | None, memory: str) -> PriceCounts:
    """Ask a build's prices.

    Args:
        threads, memory: what DuckDB may use; beyond its memory it spills to disk.

    Raises:
        BuildError: DuckDB cannot work on them.
        StoreError: they cannot be had.
    """
    path = build.layers[names.CATALOGUE].file(PRICES)
    try:
        db = Database(threads, memory)
        try:
            db.set(as_of=build.as_of.isoformat())
            _open(db, str(path).replace("'", "''"))
            db.run(*(f"report/{view}" for view in VIEWS))
            return PriceCounts(*(db.table(f"from {view}").to_pylist() for view in VIEWS))
        finally:
            db.close()
    except duckdb.Error as error:
        raise BuildError(f"the prices of build {build.id} cannot be read: {str(error).splitlines()[0]}") from error


def _open(db: Database, path: str) -> None:
    there = {name for name, *_ in db.rows(f"describe from read_parquet('{path}')")}
    lacking = "".join(f", null::{kind} as {name}" for name, kind in _LATER.items() if name not in there)
    db.connection.execute(f"create view prices as select *{lacking} from read_parquet('{path}')")
