"""The endpoint that Prometheus scrapes: a thread of the process that started the workers, which answers no API request.

It adds up what the workers count (see `metrics`), and tells how old the build is that they answer from. It never
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
from http.server import BaseHTTPRequestHandler
from importlib.metadata import version
from pathlib import Path
from socketserver import ThreadingTCPServer
from threading import Thread

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from edge_auth.errors import ServeError
from edge_auth.host.metrics import LIVE_NAME

# Tables of the lake, and where a build's record says how new its newest row is.
_SOURCES = {
    "price_guide": ("catalogue", "price_guide_day"),
    "listings": ("catalogue", "listing_scraped_at"),
    "filtered_checks": ("filtered_price", "latest_checked_at"),
    "watch_checks": ("watchlist", "last_checked"),
}


class Scrape:
    """The endpoint, and the folder that it shares with the workers."""

    def __init__(self, host: str, port: int, state: Path):
        """Listen on a port (0: any free one) and clear the folder, which nobody else uses: it has the port's name.

        Raises:
            ServeError: the address cannot be listened on, or the folder cannot be written.
        """
        self._server = _listening(host, port)
        address, self.port = self._server.server_address[:2]
        self.url = f"http://{f'[{address}]' if ':' in address else address}:{self.port}/metrics"
        self.folder = state / f"metrics-{address}-{self.port}"
        try:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
        except OSError as error:
            raise ServeError(f"--state {state}: {error.strerror}") from error
        self._server.registry = CollectorRegistry()  # type: ignore[attr-defined]
        for collector in (_Workers(self.folder), _Ages(self.folder / LIVE_NAME)):
            self._server.registry.register(collector)  # type: ignore[attr-defined]
        # A worker that outlives us for a moment must not hold the port.
        os.register_at_fork(after_in_child=self._server.socket.close)

    def start(self) -> None:
        """Answer in a thread."""
        Thread(target=self._server.serve_forever, daemon=True, name="scrape").start()

    def close(self) -> None:
        """Stop listening and take the folder away, once no worker is left."""
        self._server.server_close()
        shutil.rmtree(self.folder, ignore_errors=True)


class _Handler(BaseHTTPRequestHandler):
    timeout = 10

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(404)
            return
        encode, content_type = choose_encoder(self.headers.get("Accept", ""))
        body = encode(self.server.registry)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Scrapes are not logged."""


class _Server(ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A scraper that hung up is nobody's concern."""


class _Workers(Collector):
    """The sums over the workers, dead ones included."""

    def __init__(self, folder: Path):
        self._folder = folder

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        # A file that a worker is just making is still empty.
        files = [str(file) for file in self._folder.glob("*.db") if file.stat().st_size]
        yield from MultiProcessCollector.merge(files)


class _Ages(Collector):
    """The version, the live build, and how old it and its sources are: seconds since the day or moment they name."""

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
        for source, (part, field) in _SOURCES.items():
            newest = ((live["freshness"] or {}).get(part) or {}).get(field)
            if newest:
                ages.add_metric([source], _age(newest, now))
        yield ages


def _age(moment: str, now: float) -> float:
    """Seconds since a timestamp, or since a day began, in UTC."""
    return now - datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()


def _listening(host: str, port: int) -> _Server:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        kind = type("_FamilyServer", (_Server,), {"address_family": family})
        return kind(address[:2], _Handler)
    except OSError as error:
        taken = "another process has it, choose another port" if error.errno == errno.EADDRINUSE else error.strerror
        raise ServeError(f"cannot listen on {host} port {port} for metrics: {taken}") from error
