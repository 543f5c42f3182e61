"""Multiplies the prices of a real game by 1.3 from a day on, accepts that day, and prints what becomes of each night.

    python -m tests.real.accepted_level DATA

What an operator accepted once is not asked again: of eight nights one is refused.
"""

import sys
import tempfile
from datetime import datetime
from pathlib import Path

import duckdb

from edge_auth.store.folder import FolderStore
from generator.errors import GeneratorError
from generator.lake.quarantine import ACCEPTED, settle
from generator.nightly.night import run_night
from generator.nightly.notices import Notices
from generator.nightly.steps import Night
from tests.real import pokemon_lake
from tests.support.nights import QUIET, at

ORDINARY, RISEN = 9, 8  # nights
PRICES = ("low", "trend", "avg1", "avg7", "avg30", "low_holo", "trend_holo")


def main(data: Path) -> None:
    """Run the nights, a day apart."""
    if not data.is_dir():
        print(f"skipped: there is no real data at {data}")
        return
    with tempfile.TemporaryDirectory(prefix="cardpress-level-") as folder:
        lake, store, refused = Path(folder) / "lake", FolderStore(f"{folder}/store"), []
        for number, day in enumerate(waiting_days(data, lake, Path(folder) / "waiting")):
            arrive(day, lake, 1.3 if number >= ORDINARY else 1.0)
            date = day.name.removeprefix("day=")
            night = Night(date, str(lake), store, at(datetime.fromisoformat(f"{date}T22:00Z")), QUIET)
            try:
                run_night(night, Notices(QUIET))
            except GeneratorError:
                refused.append(date)
                if len(refused) == 1:
                    settle(store, [date], ACCEPTED)
            print(date, night.report.outcome, flush=True)
        print(f"{len(refused)} of {RISEN} nights with the new level were refused, the first one was accepted")


def waiting_days(data: Path, lake: Path, waiting: Path) -> list[Path]:
    """Write the lake with a quarter of its sets, and move its last days aside."""
    pokemon_lake.main(str(data), str(lake))
    with duckdb.connect() as connection:
        products = f"{lake}/products.parquet"
        connection.execute(f"create table kept as from '{products}' where hash(id_expansion) % 4 = 0")
        connection.execute(f"copy (from kept order by all) to '{products}'")
    waiting.mkdir()
    days = sorted((lake / "price_guide").iterdir())[-ORDINARY - RISEN :]
    return [day.rename(waiting / day.name) for day in days]


def arrive(day: Path, lake: Path, factor: float) -> None:
    """Move a day into the lake, its prices times a factor."""
    target = lake / "price_guide" / day.name
    day.rename(target)
    prices = ", ".join(f"round({name} * {factor}, 2) as {name}" for name in PRICES)
    with duckdb.connect() as connection:
        connection.execute(f"create table guide as from read_parquet('{target}/*.parquet', hive_partitioning = false)")
        connection.execute(f"copy (select * replace ({prices}) from guide order by all) to '{target}/part.parquet'")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
