"""Runs a night for each day of one real game's price guide, and prints the values of all gates as CSV.

What is unusual about the columns of a night goes to standard error.

    python -m tests.real.nights DATA [NIGHTS]

`bench/real-nights.csv` is its output. Works in a temporary folder; nothing of the data is kept.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from generator import settings
from tests.real import pokemon_lake
from tests.support.service import ROOT, environment

NIGHTS = 30


def main(data: Path, nights: int = NIGHTS) -> None:
    """Publish the first day, then run a night for each later day of the guide."""
    if not data.is_dir():
        print(f"skipped: there is no real data at {data}")
        return
    with tempfile.TemporaryDirectory(prefix="cardpress-real-") as folder:
        lake, store, waiting = Path(folder) / "lake", Path(folder) / "store", Path(folder) / "waiting"
        pokemon_lake.main(str(data), str(lake))
        waiting.mkdir()
        days = sorted((lake / "price_guide").iterdir())[-nights - 1 :]
        for day in days:
            day.rename(waiting / day.name)
        print(",".join(["night", "outcome", *settings.GATES]))
        for number, day in enumerate(days):
            (waiting / day.name).rename(day)
            report = night(lake, store)
            if number:
                print(_row(day.name.removeprefix("day="), report), flush=True)
                unusual = (one for one in report["judgement"]["remarks"] if one["gate"] == "columns-unusual")
                for remark in unusual:
                    print(f"{day.name}: {remark['message']}", file=sys.stderr, flush=True)
        print(",".join(["passes up to", "", *(f"{limit:g}" for limit in settings.GATES.values())]))


def night(lake: Path, store: Path) -> dict:
    """Run a night, however long it takes. Return its report."""
    options = ["--no-pages", "--reread-days", "0", "--keep", "9", "--grace", "0", "--json"]
    command = [sys.executable, "-m", "generator", "nightly", "--lake", str(lake), "--store", str(store), *options]
    result = subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True)
    return json.loads(result.stdout)


def _row(day: str, report: dict) -> str:
    values = {verdict["gate"]: verdict["value"] for verdict in report["judgement"]["verdicts"]}
    shown = (f"{values[gate]:.3g}" if gate in values else "-" for gate in settings.GATES)
    return ",".join([day, report["outcome"], *shown])


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
