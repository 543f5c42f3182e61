"""Measures the commands that run all day: a build after one new check of the watchlist, --help, show.

python -m bench.commands [--quick]
"""

import argparse
import json
from dataclasses import asdict
from datetime import datetime, time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench.data import days, linked_copy, print_progress, site
from bench.runs import Run, measure_command
from bench.sizes import FULL, QUICK, Size

_ROUNDS = 5
WATCH_CHECK, HELP, SHOW = "build --publish after one watch check", "--help", "show"


def commands(size: Size) -> dict[str, list[dict[str, Any]]]:
    """Return the costs of each command by name, by round. Python's start is part of them."""
    served = site(size.products, size.days)
    lake, store = linked_copy(served.lake, "commands-lake"), linked_copy(served.store, "commands-store")
    _build_after_check(lake, store, 0)  # the next ones find what it keeps, as on any day
    runs: dict[str, list[Run]] = {WATCH_CHECK: [], HELP: [], SHOW: []}
    for round_ in range(1, _ROUNDS + 1):
        runs[WATCH_CHECK].append(_build_after_check(lake, store, round_))
        runs[HELP].append(measure_command("--help"))
        runs[SHOW].append(measure_command("show", "--store", store))
    for name, same in runs.items():
        print_progress(f"{name}: {', '.join(f'{run.wall:.2f}' for run in same)} s")
    return {name: [asdict(run) for run in same] for name, same in runs.items()}


def _build_after_check(lake: Path, store: Path, number: int) -> Run:
    """Add a check to the last day of a lake, then build and publish."""
    day = days(lake)[-1]
    folder = lake / "watch_checks" / f"day={day}"
    check = pq.read_table(next(folder.glob("demo*.parquet"))).slice(number, 1)
    at = pa.array([datetime.combine(datetime.fromisoformat(day), time(23, 59, number))], check["checked_at"].type)
    place = check.schema.get_field_index("checked_at")
    pq.write_table(check.set_column(place, "checked_at", at), folder / f"check-{number}.parquet")
    return measure_command("build", "--lake", lake, "--store", store, "--publish")


def main() -> None:
    """Measure, and print the results as JSON."""
    parser = argparse.ArgumentParser(description="Measure the commands that run all day.")
    parser.add_argument("--quick", action="store_true", help="A smaller lake.")
    print(json.dumps(commands(QUICK if parser.parse_args().quick else FULL), indent=1))


if __name__ == "__main__":
    main()
