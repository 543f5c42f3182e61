"""Counts over the prices of a build, by the SQL of `build/report/`."""

from dataclasses import dataclass
from typing import Any

from edge_auth.builds.builds import Build
from generator.making.stored_prices import prices_database

_VIEWS = ("coverage", "distribution", "ages", "game_columns")
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
    with prices_database(build, threads, memory) as db:
        db.run(*(f"report/{view}" for view in _VIEWS))
        return PriceCounts(*(db.table(f"from {view}").to_pylist() for view in _VIEWS))
