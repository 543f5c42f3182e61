"""What is asked of the shim alone: latency below its limit, its first answers, its memory, its slowest search.

python -m bench.shim [--quick]
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence

from bench import servers
from bench.cases import API, cards, mix, new_words
from bench.data import environment, say, scratch, site
from bench.load import ask_in_turn, load
from bench.machine import SERVER_CORE, forget, memory_mb, pinned
from bench.peers.ours import Ours
from bench.serving import Field, field
from bench.sizes import FULL, QUICK, Size
from bench.stats import quantile

_GZIP = {"Accept-Encoding": "gzip"}
_STEADY_CONNECTIONS = 64


def steady(opened: Field, rounds: int, seconds: float) -> list[dict[str, float]]:
    """Per round the rate that saturates the shim with a mix of all endpoints, and its latency at half of that.

    Half the load is many connections that each pause at random between requests.
    """
    targets, headers = mix(opened.known), opened.peers[Ours.name].headers() | _GZIP
    found = []
    for _ in range(rounds):
        port = opened.server(Ours.name, anew=True).port
        full = load(port, targets, headers, seconds, folder=opened.logs)
        pause = 1000 * _STEADY_CONNECTIONS / (full.rate / 2)
        port = opened.server(Ours.name, anew=True).port
        ask_in_turn(port, [cards()], headers)
        half = load(
            port, targets, headers, 2 * seconds, folder=opened.logs, connections=_STEADY_CONNECTIONS, pause_ms=pause
        )
        found.append({"saturated": full.rate, "rate": half.rate, "p50": half.p50, "p99": half.p99})
        say(f"mix: {full.rate:.0f}/s at most; at {half.rate:.0f}/s p50 {half.p50:.2f} ms, p99 {half.p99:.2f} ms")
    return found


def cold(opened: Field, rounds: int) -> dict[str, dict[str, list[float]]]:
    """By server and kind of request: ms of the first such request of a server just started, its files not in memory."""
    words = " ".join(new_words(opened.known.names)[-1])
    targets = {
        "default list page": cards(),
        "card detail": f"{API}/cards/{opened.known.details[0]}",
        "two words": cards(q=words),
        "page at 90 %": cards(offset=len(opened.known.names) * 9 // 10),
    }
    found: dict[str, dict[str, list[float]]] = {}
    for _ in range(rounds):
        for name in [name for name, peer in opened.peers.items() if {"lists", "details"} <= peer.offers]:
            peer = opened.peers[name]
            opened.stop(name)
            forget(peer.files())
            port = opened.server(name).port
            for kind, target in targets.items():
                asked = ask_in_turn(port, [peer.target(target)], peer.headers())
                found.setdefault(name, {}).setdefault(kind, []).append(asked.p50)
    return found


def memory(opened: Field, seconds: float) -> dict[str, float]:
    """MB that the shim's processes take (shared pages shared out) with one worker and with two, after a mix of load."""
    targets, found = mix(opened.known), {}
    for workers in (1, 2):
        ours = Ours(opened.data(f"memory-{workers}"))
        ours.workers = workers
        server = servers.start(ours.command, ours.ready, opened.logs / "memory.log", core=None)
        try:
            load(server.port, targets, ours.headers() | _GZIP, seconds, folder=opened.logs, connections=32)
            found[f"{workers} worker{'s' * (workers > 1)}"] = memory_mb(server.process.pid)
        finally:
            server.stop()
    say(f"memory: {found}")
    return found


def searches(size: Size) -> dict[str, object]:
    """The searches of `in_shim` over a large catalogue: median ms by query."""
    products, days = size.search
    chosen = site(products, days)
    places = {"store": chosen.store, "lake": chosen.lake, "key": chosen.key, "state": scratch("search")}
    asked = json.dumps({name: str(place) for name, place in places.items()})
    command = pinned(SERVER_CORE, [sys.executable, "-m", "bench.in_shim", asked])
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"in_shim: {done.stderr[-2000:]}")
    times: dict[str, float] = json.loads(done.stdout)
    worst = max(times, key=times.__getitem__)
    say(f"search over {products:,}: worst {times[worst]:.1f} ms: {worst}")
    return {
        "products": products,
        "worst": worst,
        "worst ms": times[worst],
        **_shares(list(times.values())),
        "ms": times,
    }


def _shares(times: Sequence[float]) -> dict[str, float]:
    return {"p50 ms": quantile(times, 0.5), "p99 ms": quantile(times, 0.99)}


def shim(opened: Field, size: Size) -> Iterator[dict]:
    """All of it, as JSON can hold it, each when it is there."""
    yield {"steady": steady(opened, size.rounds, size.seconds * 3)}
    yield {"memory": memory(opened, size.seconds * 5)}
    yield {"cold": cold(opened, size.rounds)}
    yield {"searches": searches(size)}


def main() -> None:
    """Measure, and print the results as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="A smaller lake, fewer rounds.")
    size = QUICK if parser.parse_args().quick else FULL
    with field(size) as opened:
        for found in shim(opened, size):
            print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
