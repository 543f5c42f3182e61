"""Everything in one run: python -m bench [--quick] [--only PART …]

Writes docs/benchmarks.md and its plots (--quick: into the cache alone), and the raw results as JSON into the cache.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from bench.cases import CASES
from bench.data import ROOT, cache, say
from bench.generation import generation
from bench.machine import description
from bench.report import goal_table, write
from bench.results import Results
from bench.serving import field, serving
from bench.shim import shim
from bench.sizes import FULL, QUICK, Size

PARTS = ("serving", "shim", "generation")


def measure(size: Size, parts: list[str]) -> Iterator[dict]:
    """The results of the parts, as JSON can hold them, each when it is there."""
    if {"serving", "shim"} & set(parts):
        with field(size) as opened:
            if "serving" in parts:
                yield {"serving": [asdict(one) for one in serving(opened, CASES, size.rounds, size.seconds)]}
            if "shim" in parts:
                yield from shim(opened, size)
    if "generation" in parts:
        yield {"generation": generation(size)}


def main() -> None:
    """Measure, keep the raw results, report, and print the goals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="A smaller lake, fewer rounds: under three minutes.")
    parser.add_argument("--only", choices=PARTS, action="append", help="Only this part; may repeat.")
    parser.add_argument(
        "--report",
        metavar="FILE",
        type=Path,
        nargs="+",
        help="Write the page anew from kept raw results; of parts that several hold, the last one counts.",
    )
    options = parser.parse_args()
    if options.report:
        raw = _joined([json.loads(file.read_text()) for file in options.report])
    else:
        raw = _measured(QUICK if options.quick else FULL, options.quick, options.only or list(PARTS))
    whole = set(raw["parts"]) == set(PARTS) and not raw["quick"]
    page = write(Results(raw), ROOT / "docs" if whole else cache() / "report")
    print("\n".join(goal_table(Results(raw))))
    say(f"written: {page}")


def _joined(runs: list[dict]) -> dict:
    parts = {part: None for raw in runs for part in raw["parts"]}
    return {name: value for raw in runs for name, value in raw.items()} | {"parts": list(parts)}


def _measured(size: Size, quick: bool, parts: list[str]) -> dict:
    now = datetime.now(UTC)
    raw = {
        "command": "make bench-quick" if quick else "make bench",
        "date": now.date().isoformat(),
        "quick": quick,
        "parts": parts,
        "machine": description(),
        "size": asdict(size),
    }
    kept = cache() / "results"
    kept.mkdir(exist_ok=True)
    file = kept / f"{now:%Y%m%dT%H%M%SZ}{'-quick' * quick}.json"
    say(f"raw results: {file}")
    for part in measure(size, parts):
        raw |= part
        file.write_text(json.dumps(raw, indent=1))
    return raw


if __name__ == "__main__":
    main()
