"""Measures a switch of builds under load, behind nginx: how long pages take while another build goes live.

python -m bench.switch [--quick]
"""

import argparse
import http.client
import json
import threading
import time
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
from edge_auth.builds.layout import POINTER

_PAGES, _CONNECTIONS = 4000, 64
_SECONDS, _SWITCH_AFTER = 10.0, 3.0
_GZIP = {"Accept-Encoding": "gzip"}
_PAUSE_SECONDS = 0.02


class TwoBuilds:
    """A store with two builds: that of a lake, and that of the day before."""

    def __init__(self, size: Size):
        self.site = site(size.products, size.days)
        self.store = linked_copy(self.site.store, "switch-store")
        self._file = self.store / POINTER
        newest = self._file.read_bytes()
        day = date.fromisoformat(json.loads(newest)["build"][:10]) - timedelta(days=1)
        run("build", "--lake", self.site.lake, "--store", self.store, "--as-of", day, "--publish")
        self._pointers = [self._file.read_bytes(), newest]

    def switch(self) -> str:
        """Move the pointer to the build that is not live. Return the build."""
        self._pointers.reverse()
        temporary = self._file.with_name("pointer.new")
        temporary.write_bytes(self._pointers[0])
        temporary.replace(self._file)
        return str(json.loads(self._pointers[0])["build"])


@dataclass
class Switch:
    """A switch in the middle of a load: the build, and the seconds until a client got it."""

    builds: TwoBuilds
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
        build, began = self.builds.switch(), time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        while time.monotonic() < began + 30:
            connection.request("GET", cards(), headers=self.headers)
            answer = connection.getresponse()
            answer.read()
            if answer.headers["X-Build"] == build:
                self.in_force = time.monotonic() - began
                return
            time.sleep(_PAUSE_SECONDS)


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
    for name in ("publish", "rollback"):
        with Switch(builds, port, headers) as switch:
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
