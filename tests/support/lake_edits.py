"""Changes to the Parquet files of a lake."""

from collections.abc import Callable
from pathlib import Path

import duckdb

Damage = Callable[[Path], None]


def rewrite(file: Path, query: str) -> None:
    """Replace a Parquet file by a query over its rows, which it calls `rows`."""
    with duckdb.connect() as connection:
        connection.execute(f"create table rows as from read_parquet('{file}', hive_partitioning = false)")
        connection.execute(f"copy ({query}) to '{file}' (format parquet)")


def empty(table: str) -> Damage:
    def damage(lake: Path) -> None:
        for file in [*lake.glob(f"{table}*.parquet"), *lake.glob(f"{table}/*/*.parquet")]:
            rewrite(file, "from rows limit 0")

    damage.__name__ = f"no_{table}"
    return damage
