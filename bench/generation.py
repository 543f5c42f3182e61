"""Measures builds in CPU, wall time, memory and bytes, and compares them with compression alone.

python -m bench.generation [--quick]
"""

import argparse
import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.data import ROOT, days, first_version, lake, linked_copy, print_progress, run, scratch, with_earlier_years
from bench.runs import Run, build
from bench.sizes import FULL, QUICK, Size
from generator.storage.stores.codec import compress

_ZSTD_LEVEL = 3


def generation(size: Size) -> Iterator[dict[str, Any]]:
    """Measure all builds. Yield all results so far whenever there are new ones, in values that JSON can hold.

    `runs`: per name a list over the rounds. `bytes`: sizes of the build of a year.
    """
    runs: dict[str, list[Run]] = {}
    year = lake(*size.year)
    *_, before, last = days(year)
    longer = with_earlier_years(year, 2)
    first = {name: _first(runs, name, source, before) for name, source in (("one", year), ("three", longer))}
    for round_ in range(size.builds):
        for threads in (1, 2) if round_ else (1,):
            store = scratch("generation")
            _add(runs, f"one year, first, {threads} thread{'s' * (threads > 1)}", build(year, store, before, threads))
        for name, source in (("one", year), ("three", longer)):
            store = linked_copy(first[name], "generation")
            _add(runs, f"{name} year{'s' * (name != 'one')}, second night", build(source, store, last, 2))
    sizes = _bytes(first["one"])
    yield _results(runs, sizes)
    _large(runs, size)
    yield _results(runs, sizes)
    for products, span, turns in size.versions:
        _compare_versions(runs, products, span, turns)
        yield _results(runs, sizes)


def _results(runs: dict[str, list[Run]], sizes: dict[str, float]) -> dict[str, Any]:
    return {"runs": {name: [asdict(run) for run in same] for name, same in runs.items()}, "bytes": sizes}


def _first(runs: dict[str, list[Run]], name: str, source: Path, day: str) -> Path:
    """Measure a first build and return its store, for the measurements that follow."""
    store = scratch(f"generation-{name}")
    _add(runs, "one year, first, 2 threads" if name == "one" else "three years, first", build(source, store, day, 2))
    return store


def _add(runs: dict[str, list[Run]], name: str, run: Run) -> None:
    runs.setdefault(name, []).append(run)


def _compare_versions(runs: dict[str, list[Run]], products: int, span: int, turns: int) -> None:
    """Measure a first build and the night after it, by version 1.0 and by this code, each turn in the other order."""
    with first_version() as older:
        if older is None:
            print_progress("no comparison with version 1.0: its commit is not in this clone")
            return
        source = lake(products, span)
        *_, before, last = days(source)
        versions = [("version 1.0", older), ("now", ROOT)]
        for turn in range(turns):
            for name, code in versions if turn % 2 == 0 else versions[::-1]:
                store = scratch("versions")
                for what, day in (("first", before), ("night", last)):
                    _add(runs, f"{products:,} x {span} days, {what}, {name}", build(source, store, day, 2, code))


def _large(runs: dict[str, list[Run]], size: Size) -> None:
    """Measure a build of many products with few days, for its memory."""
    products, span = size.large
    source = lake(products, span)
    _add(runs, f"{products:,} x {span} days", build(source, scratch("generation"), days(source)[-1], 2))


def _bytes(store: Path) -> dict[str, float]:
    """Return the bytes of a build in its store, of its JSON as exported, and of that JSON compressed in other ways."""
    print_progress("compressing the same JSON alone")
    exported = scratch("export")
    run("export", exported, "--store", store)
    seconds, gzipped, documents, everything = 0.0, 0, 0, bytearray()
    for path in sorted(exported.rglob("*.json")):
        data = path.read_bytes()
        began = time.thread_time()
        gzipped += len(compress(data))
        seconds += time.thread_time() - began
        documents += 1
        everything += data
    shutil.rmtree(exported)
    return {
        "documents": documents,
        "json": len(everything),
        "stored": sum(path.stat().st_size for path in (store / "layers").rglob("*") if path.is_file()),
        "gzip alone": gzipped,
        "zstd stream": len(pa.Codec("zstd", _ZSTD_LEVEL).compress(everything, asbytes=True)),
        "gzip alone, CPU seconds": seconds,
    }


def main() -> None:
    """Measure, and print the results as JSON."""
    parser = argparse.ArgumentParser(description="Measure builds.")
    parser.add_argument("--quick", action="store_true", help="A smaller lake, fewer rounds.")
    *_, results = generation(QUICK if parser.parse_args().quick else FULL)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
