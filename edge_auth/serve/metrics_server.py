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
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from socketserver import ThreadingTCPServer

from prometheus_client import CollectorRegistry, MetricsHandler
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from edge_auth.errors import EdgeError
from edge_auth.live.metrics import LIVE_NAME

_Values = Mapping[tuple[str, ...], float]  # by labels
# By table of the lake: the field of a build's freshness with the time of its newest row.
_FRESHNESS_FIELDS = {
    "price_guide": ("catalogue", "price_guide_day"),
    "listings": ("catalogue", "listing_scraped_at"),
    "filtered_checks": ("filtered_price", "latest_checked_at"),
    "watch_checks": ("watchlist", "last_checked"),
}


class MetricsServer(ThreadingTCPServer):
    """The endpoint, and the folder where the workers count: it has the port in its name, so no other shim uses it."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: str, port: int, state: Path):
        registry = CollectorRegistry()
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        super().__init__((address, port), _Handler.factory(registry))
        self.folder = state / f"metrics-{address}-{port}"
        try:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
        except OSError as error:
            if error.errno != errno.ENOSPC:  # the workers make the folder when there is room
                raise EdgeError(f"--state {state}: {error.strerror}") from error
        registry.register(_AllCounts(self.folder))
        # A worker that outlives this process for a moment must not keep the port open.
        os.register_at_fork(after_in_child=self.socket.close)

    def close(self) -> None:
        """Stop listening and delete the folder. Call it after the workers have ended."""
        self.server_close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a scraper that closes its connection early."""


class _Handler(MetricsHandler):
    timeout = 10

    def do_GET(self) -> None:
        if self.path.partition("?")[0] == "/metrics":
            super().do_GET()
        else:
            self.send_error(404)


class _AllCounts(Collector):
    """The sums over all workers, also those that have ended; the version of the shim; the ages of what it answers."""

    def __init__(self, folder: Path):
        self._folder = folder

    def collect(self) -> Iterator[Metric]:
        # A worker that is starting has created its file, which is still empty.
        files = [str(file) for file in self._folder.glob("*.db") if file.stat().st_size]
        yield from MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call]  # the library lacks the types
        yield _gauge("cardpress_info", "The version of the shim.", {(version("cardpress"),): 1}, "version")
        try:
            live = json.loads((self._folder / LIVE_NAME).read_bytes())
        except OSError:  # no worker has opened a build yet
            return
        build = (live["id"], live["as_of"])
        yield _gauge("cardpress_live_build_info", "The build that answers.", {build: 1}, "build", "as_of")
        age: _Values = {(): _age(live["as_of"])}
        yield _gauge("cardpress_build_age_seconds", "Since the as-of day of that build began.", age)
        found = {source: ((live["freshness"] or {}).get(part) or {}).get(field)
                 for source, (part, field) in _FRESHNESS_FIELDS.items()}  # fmt: skip
        ages: _Values = {(source,): _age(newest) for source, newest in found.items() if newest}
        yield _gauge("cardpress_source_age_seconds", "Since the newest row of a table in that build.", ages, "source")


def _gauge(name: str, text: str, values: _Values, *labels: str) -> Metric:
    family = GaugeMetricFamily(name, text, labels=labels)
    for of_labels, value in values.items():
        family.add_metric(of_labels, value)
    return family


def _age(moment: str) -> float:
    """Return the seconds since a timestamp, or since the beginning of a day, in UTC."""
    return time.time() - datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
