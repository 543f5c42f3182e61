"""The endpoint that Prometheus scrapes: a thread of the process that started the workers.

It adds up the counts of the workers (see `metrics`), and reports the age of the build that they answer from. It never
reads the store.
"""

import errno
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from socketserver import ThreadingTCPServer
from threading import Thread

from prometheus_client import CollectorRegistry, MetricsHandler
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from edge_auth.errors import ServeError
from edge_auth.live.metrics import LIVE_NAME

# By table of the lake: the field of a build's freshness with the time of its newest row.
_FRESHNESS_FIELDS = {
    "price_guide": ("catalogue", "price_guide_day"),
    "listings": ("catalogue", "listing_scraped_at"),
    "filtered_checks": ("filtered_price", "latest_checked_at"),
    "watch_checks": ("watchlist", "last_checked"),
}


class MetricsServer:
    """The endpoint, and the folder where the workers count.

    Args:
        port: 0 means any free port.
        state: The shim's state folder. The metrics folder in it has the port in its name, so no other shim uses it.

    Raises:
        ServeError: The address cannot be used, or the folder cannot be written.
    """

    def __init__(self, host: str, port: int, state: Path):
        self._server = _listen(host, port)
        address, self.port = str(self._server.server_address[0]), self._server.server_address[1]
        self.url = f"http://{f'[{address}]' if ':' in address else address}:{self.port}/metrics"
        self.folder = state / f"metrics-{address}-{self.port}"
        try:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
        except OSError as error:
            if error.errno != errno.ENOSPC:  # the workers make the folder when there is room
                raise ServeError(f"--state {state}: {error.strerror}") from error
        for collector in (_WorkerCollector(self.folder), _BuildCollector(self.folder / LIVE_NAME)):
            self._server.registry.register(collector)
        # A worker that outlives this process for a moment must not keep the port open.
        os.register_at_fork(after_in_child=self._server.socket.close)

    def start(self) -> None:
        """Answer in a thread."""
        Thread(target=self._server.serve_forever, daemon=True, name="metrics").start()

    def close(self) -> None:
        """Stop listening and delete the folder. Call it after the workers have ended."""
        self._server.server_close()
        shutil.rmtree(self.folder, ignore_errors=True)


class _Server(ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, family: socket.AddressFamily, address: tuple[str, int]):
        self.address_family = family
        self.registry = CollectorRegistry()
        super().__init__(address, type("Handler", (_Handler,), {"registry": self.registry}))

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a scraper that closes its connection early."""


class _Handler(MetricsHandler):
    timeout = 10

    def do_GET(self) -> None:
        if self.path.partition("?")[0] == "/metrics":
            super().do_GET()
        else:
            self.send_error(404)


class _WorkerCollector(Collector):
    """The sums over all workers, also those that have ended."""

    def __init__(self, folder: Path):
        self._folder = folder

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        # A worker that is starting has created its file, which is still empty.
        files = [str(file) for file in self._folder.glob("*.db") if file.stat().st_size]
        yield from MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call]  # the library lacks the types


class _BuildCollector(Collector):
    """The version of the shim, the live build, and the age of the build and of its sources."""

    def __init__(self, live: Path):
        self._live = live

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        info = GaugeMetricFamily("cardpress_info", "The version of the shim.", labels=["version"])
        info.add_metric([version("cardpress")], 1)
        yield info
        try:
            live = json.loads(self._live.read_bytes())
        except OSError:  # no worker has opened a build yet
            return
        now = time.time()
        build = GaugeMetricFamily("cardpress_live_build_info", "The build that answers.", labels=["build", "as_of"])
        build.add_metric([live["id"], live["as_of"]], 1)
        yield build
        yield GaugeMetricFamily(
            "cardpress_build_age_seconds", "Since the as-of day of that build began.", _age(live["as_of"], now)
        )
        ages = GaugeMetricFamily(
            "cardpress_source_age_seconds", "Since the newest row of a table in that build.", labels=["source"]
        )
        for source, (section, field) in _FRESHNESS_FIELDS.items():
            newest = ((live["freshness"] or {}).get(section) or {}).get(field)
            if newest:
                ages.add_metric([source], _age(newest, now))
        yield ages


def _age(moment: str, now: float) -> float:
    """Return the seconds since a timestamp, or since the beginning of a day, in UTC."""
    return now - datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()


def _listen(host: str, port: int) -> _Server:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return _Server(family, (str(address[0]), int(address[1])))
    except OSError as error:
        in_use = error.errno == errno.EADDRINUSE
        reason = "another process has it, choose another port" if in_use else error.strerror
        raise ServeError(f"cannot listen on {host} port {port} for metrics: {reason}") from error
