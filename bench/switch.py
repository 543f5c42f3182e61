"""Measures a switch of builds under load, behind nginx: how long pages take while another build goes live.

python -m bench.switch [--quick]
"""

import argparse
import http.client
import json
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from bench import servers
from bench.cases import cards
from bench.data import cache, linked_copy, print_progress, run, scratch, site
from bench.load import load
from bench.peers.ours import EdgePeer
from bench.peers.peer import Data
from bench.sizes import FULL, QUICK, Size
from generator.storage.layout import POINTER

_PAGES, _CONNECTIONS = 4000, 64
_SECONDS, _SWITCH_AFTER = 10.0, 3.0
_GZIP = {"Accept-Encoding": "gzip"}
_PAUSE_SECONDS = 0.02


class TwoBuilds:
    """A store with two builds: that of a lake, and that of the day before, which is live."""

    def __init__(self, size: Size):
        self.site = site(size.products, size.days)
        self.store = linked_copy(self.site.store, "switch-store")
        self.newest = self._live()
        day = date.fromisoformat(self.newest[:10]) - timedelta(days=1)
        run("build", "--lake", self.site.lake, "--store", self.store, "--as-of", day, "--publish")
        self.before = self._live()

    def _live(self) -> str:
        return str(json.loads((self.store / POINTER).read_bytes())["build"])

    def moved(self) -> float:
        """Return when the pointer moved last, in Unix time."""
        return (self.store / POINTER).stat().st_mtime


@dataclass
class Switch:
    """A switch in the middle of a load, as an operator makes it: the command, and the build that is live after it.

    Attributes:
        in_force: The seconds until a client got it, from the moment at which the pointer moved.
    """

    builds: TwoBuilds
    command: Sequence[str]
    build: str
    port: int
    headers: dict[str, str]
    in_force: float = float("inf")

    def __enter__(self) -> "Switch":
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    def _run(self) -> None:
        time.sleep(_SWITCH_AFTER)
        with ThreadPoolExecutor() as pool:  # the build is in force before the command ends
            done = pool.submit(run, *self.command, "--store", self.builds.store)
            seen = self._seen()
            done.result()
        self.in_force = seen - self.builds.moved()

    def _seen(self) -> float:
        """Return when an answer came from the build, in Unix time; infinity if none came in half a minute."""
        connection, began = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30), time.monotonic()
        while time.monotonic() < began + 30:
            connection.request("GET", cards(), headers=self.headers)
            answer = connection.getresponse()
            answer.read()
            if answer.headers["X-Build"] == self.build:
                return time.time()
            time.sleep(_PAUSE_SECONDS)
        return float("inf")


def switches(size: Size, rounds: int, seconds: float = _SECONDS) -> list[dict[str, float]]:
    """Return for each round the p99 of pages with and without a switch, and when the new build was in force.

    Each figure speaks for some seconds of the load that saturates nginx. Any answer but 200 ends the measurement.
    """
    builds = TwoBuilds(size)
    logs = scratch("switch-logs")
    edge = EdgePeer(Data(cache(), builds.store, builds.site.key, scratch("state-switch")))
    found = []
    for _ in range(rounds):
        server = servers.start(edge.command, edge.ready, logs / "edge.log")  # with an empty cache
        try:
            found.append(_round(server.port, builds, edge.headers() | _GZIP, seconds, logs))
        finally:
            server.stop()
        print_progress(", ".join(f"{name} {value:.2f}" for name, value in found[-1].items()))
    return found


def _round(port: int, builds: TwoBuilds, headers: dict[str, str], seconds: float, logs: Path) -> dict[str, float]:
    targets = [cards(limit=10, offset=offset) for offset in range(_PAGES)]
    for _ in range(2):  # an answer is kept when it is asked for the second time
        load(port, targets, headers, 60, folder=logs, once=True)
    still = load(port, targets, headers, seconds, folder=logs, connections=_CONNECTIONS)
    figures = {"rate": still.rate, "p99": still.p99}
    for name, command, build in (
        ("publish", ["publish", builds.newest], builds.newest),
        ("rollback", ["rollback"], builds.before),
    ):
        with Switch(builds, command, build, port, headers) as switch:
            moved = load(port, targets, headers, seconds, folder=logs, connections=_CONNECTIONS)
        figures |= {f"rate, {name}": moved.rate, f"p99, {name}": moved.p99, f"in force, {name}": switch.in_force}
    return figures


def main() -> None:
    """Measure, and print the results as JSON."""
    parser = argparse.ArgumentParser(description="Measure a switch of builds behind nginx.")
    parser.add_argument("--quick", action="store_true", help="A smaller lake, fewer rounds.")
    size = QUICK if parser.parse_args().quick else FULL
    print(json.dumps(switches(size, size.rounds), indent=1))


if __name__ == "__main__":
    main()
