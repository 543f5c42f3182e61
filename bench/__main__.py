"""Run all benchmarks: python -m bench [--quick] [--only PART …]

A full run writes docs/benchmarks.md and its plots; `--quick` writes them into the cache. The raw results go into the
cache as JSON.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.cases import CASES
from bench.commands import commands
from bench.data import ROOT, cache, print_progress
from bench.generation import generation
from bench.machine import description
from bench.report import goal_tables, write
from bench.results import Results
from bench.serving import serving, test_bed
from bench.shim import shim
from bench.sizes import FULL, QUICK, Size
from bench.switch import switches

PARTS = ("serving", "shim", "switch", "commands", "generation")
QUICK_PARTS = tuple(part for part in PARTS if part != "switch")


def measure(size: Size, parts: list[str]) -> Iterator[dict[str, Any]]:
    """Measure the parts and yield the results of each as soon as it is complete, in values that JSON can hold."""
    if {"serving", "shim"} & set(parts):
        with test_bed(size) as bed:
            if "serving" in parts:
                yield {"serving": [asdict(one) for one in serving(bed, CASES, size.rounds, size.seconds)]}
            if "shim" in parts:
                yield from shim(bed, size)
    if "switch" in parts:
        yield {"switch": switches(size, size.rounds)}
    if "commands" in parts:
        yield {"commands": commands(size)}
    if "generation" in parts:
        yield from ({"generation": found} for found in generation(size))


def main() -> None:
    """Measure, write the raw results and the report, and print the goals."""
    parser = argparse.ArgumentParser(description="Run all benchmarks.")
    parser.add_argument("--quick", action="store_true", help="A smaller lake, fewer peers: about two minutes.")
    parser.add_argument("--only", choices=PARTS, action="append", help="Only this part; may repeat.")
    parser.add_argument(
        "--report",
        metavar="FILE",
        type=Path,
        nargs="+",
        help="Write the page from raw results of earlier runs; if several files hold a part, the last file counts.",
    )
    options = parser.parse_args()
    if options.report:
        raw = _join_runs([json.loads(file.read_text()) for file in options.report])
    else:
        parts = options.only or list(QUICK_PARTS if options.quick else PARTS)
        raw = _measure_parts(QUICK if options.quick else FULL, options.quick, parts)
    complete = set(raw["parts"]) == set(PARTS) and not raw["quick"]
    page = write(Results(raw), ROOT / "docs" if complete else cache() / "report")
    print("\n".join(goal_tables(Results(raw))))
    print_progress(f"written: {page}")


def _join_runs(runs: list[dict[str, Any]]) -> dict[str, Any]:
    parts = {part: None for raw in runs for part in raw["parts"]}
    return {name: value for raw in runs for name, value in raw.items()} | {"parts": list(parts)}


def _measure_parts(size: Size, quick: bool, parts: list[str]) -> dict[str, Any]:
    now = datetime.now(UTC)
    raw: dict[str, Any] = {
        "command": "make bench-quick" if quick else "make bench",
        "date": now.date().isoformat(),
        "quick": quick,
        "parts": parts,
        "machine": description(),
        "size": asdict(size),
    }
    folder = cache() / "results"
    folder.mkdir(exist_ok=True)
    file = folder / f"{now:%Y%m%dT%H%M%SZ}{'-quick' * quick}.json"
    print_progress(f"raw results: {file}")
    for part in measure(size, parts):
        raw |= part
        file.write_text(json.dumps(raw, indent=1))
    return raw


if __name__ == "__main__":
    main()
