"""Measures the shim alone: latency at half load, first answers, memory, slowest search.

python -m bench.shim [--quick]
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow.parquet as pq

from bench import servers
from bench.cases import API, cards, mix, new_words
from bench.data import environment, print_progress, scratch, site
from bench.in_shim import queries
from bench.load import load, request_in_turn
from bench.machine import SERVER_CORE, drop_from_page_cache, memory_mb, pinned
from bench.peers.ours import Ours
from bench.peers.peer import Data
from bench.serving import TestBed, test_bed
from bench.sizes import FULL, QUICK, Size
from bench.stats import quantile

_GZIP = {"Accept-Encoding": "gzip"}
_STEADY_CONNECTIONS = 64


def steady(bed: TestBed, rounds: int, seconds: float) -> list[dict[str, float]]:
    """Return for each round the rate that saturates the shim with a mix of requests, and the latency at half that rate.

    Half the load consists of many connections that pause for random times between requests.
    """
    targets, headers = mix(bed.target_data), bed.peers[Ours.name].headers() | _GZIP
    found = []
    for _ in range(rounds):
        port = bed.server(Ours.name, restart=True).port
        full = load(port, targets, headers, seconds, folder=bed.logs)
        pause = 1000 * _STEADY_CONNECTIONS / (full.rate / 2)
        port = bed.server(Ours.name, restart=True).port
        request_in_turn(port, [cards()], headers)
        half = load(
            port, targets, headers, 2 * seconds, folder=bed.logs, connections=_STEADY_CONNECTIONS, pause_ms=pause
        )
        found.append({"saturated": full.rate, "rate": half.rate, "p50": half.p50, "p99": half.p99})
        print_progress(
            f"mix: {full.rate:.0f}/s at most; at {half.rate:.0f}/s p50 {half.p50:.2f} ms, p99 {half.p99:.2f} ms"
        )
    return found


def cold(bed: TestBed, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Return by server and kind of request the milliseconds of the first request after a start, files not in memory."""
    words = " ".join(new_words(bed.target_data.names)[-1])
    targets = {
        "default list page": cards(),
        "card detail": f"{API}/cards/{bed.target_data.details[0]}",
        "two words": cards(q=words),
        "page at 90 %": cards(offset=len(bed.target_data.names) * 9 // 10),
    }
    found: dict[str, dict[str, list[float]]] = {}
    for _ in range(rounds):
        for name in [name for name, peer in bed.peers.items() if {"lists", "details"} <= peer.offers]:
            peer = bed.peers[name]
            bed.stop(name)
            drop_from_page_cache(peer.files())
            port = bed.server(name).port
            for kind, target in targets.items():
                first = request_in_turn(port, [peer.target(target)], peer.headers())
                found.setdefault(name, {}).setdefault(kind, []).append(first.p50)
    return found


def memory(bed: TestBed, size: Size) -> dict[str, float]:
    """Return the MB of the shim's processes (PSS) with one worker and with two, after a mix of requests.

    The last figure is that of one worker after searches in a large catalogue.
    """
    seconds, found = size.seconds * 5, {}
    for workers in (1, 2):
        data = bed.data(f"memory-{workers}")
        found[f"{workers} worker{'s' * (workers > 1)}"] = _memory_of(data, mix(bed.target_data), workers, seconds, bed)
    (products, days), *_ = size.search
    large = site(products, days)
    names = pq.read_table(large.lake / "products.parquet", columns=["name"])["name"].to_pylist()
    data = replace(bed.data("memory-large"), store=large.store, key=large.key)
    found[f"1 worker, {products:,} products"] = _memory_of(data, queries(names, len(names)), 1, seconds, bed)
    print_progress(f"memory: {found}")
    return found


def _memory_of(data: Data, targets: list[str], workers: int, seconds: float, bed: TestBed) -> float:
    ours = Ours(data)
    ours.workers = workers
    server = servers.start(ours.command, ours.ready, bed.logs / "memory.log", core=None)
    try:
        load(server.port, targets, ours.headers() | _GZIP, seconds, folder=bed.logs, connections=32)
        return memory_mb(server.process.pid)
    finally:
        server.stop()


def _run_in_shim(module: str, products: int, days: int) -> Any:
    """Return the JSON that a module prints which calls the shim of a lake without a server, on a core of its own."""
    chosen = site(products, days)
    places = {"store": chosen.store, "lake": chosen.lake, "key": chosen.key, "state": scratch("search")}
    arguments = json.dumps({name: str(place) for name, place in places.items()})
    command = pinned(SERVER_CORE, [sys.executable, "-m", module, arguments])
    process = subprocess.run(command, env=environment(), capture_output=True, text=True)
    if process.returncode:
        raise SystemExit(f"{module}: {process.stderr[-2000:]}")
    return json.loads(process.stdout)


def beside_search(products: int, days: int) -> dict[str, Any]:
    """Return the cost of /facets and of sort=match beside that of the same search."""
    print_progress(f"facets and matches beside searches over {products:,}")
    return {"products": products, "encodings": _run_in_shim("bench.beside_search", products, days)}


def searches(products: int, days: int) -> dict[str, Any]:
    """Run the searches of `in_shim` over a large catalogue and return the median milliseconds by query."""
    times: dict[str, float] = _run_in_shim("bench.in_shim", products, days)
    worst = max(times, key=times.__getitem__)
    print_progress(f"search over {products:,}: worst {times[worst]:.1f} ms: {worst}")
    return {
        "products": products,
        "worst": worst,
        "worst ms": times[worst],
        **_shares(list(times.values())),
        "ms": times,
    }


def _shares(times: Sequence[float]) -> dict[str, float]:
    return {"p50 ms": quantile(times, 0.5), "p99 ms": quantile(times, 0.99)}


def shim(bed: TestBed, size: Size) -> Iterator[dict[str, Any]]:
    """Measure the shim and yield each result as soon as it is complete, in values that JSON can hold."""
    yield {"steady": steady(bed, size.rounds, size.seconds * 3)}
    yield {"memory": memory(bed, size)}
    yield {"cold": cold(bed, size.rounds)}
    yield {"beside search": beside_search(size.products, size.days)}
    yield {"searches": [searches(*catalogue) for catalogue in size.search]}


def main() -> None:
    """Measure, and print the results as JSON."""
    parser = argparse.ArgumentParser(description="Measure the shim alone.")
    parser.add_argument("--quick", action="store_true", help="A smaller lake, fewer rounds.")
    size = QUICK if parser.parse_args().quick else FULL
    with test_bed(size) as bed:
        for found in shim(bed, size):
            print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
