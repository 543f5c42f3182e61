"""The metrics of a worker that starts on a full disk: it begins to count as soon as there is room."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, cast

from edge_auth.live.log import Answered
from edge_auth.live.metrics import Metrics, PrometheusMetrics, ThreadCounts, WatchedStore
from edge_auth.store.interface import Store

_RETRY_SECONDS = 5.0


class RetriedMetrics(Metrics):
    """Counts in a folder. While the folder cannot be written, it counts the reads of the store only.

    Args:
        say: Writes a line to the log.
    """

    def __init__(self, folder: Path, say: Callable[[str], None]):
        self._folder = folder
        self._say = say
        self._thread_counts = ThreadCounts()
        self._counting = Metrics()
        self._unpublished: dict[str, Any] | None = None
        self._next_try = 0.0
        self._trying = Lock()
        self._try()

    def request(self, one: Answered) -> None:
        """Count an answered request of the API, and flush."""
        self._counting.request(one)

    def flush(self) -> None:
        """Publish what this thread has counted. If something could not be written, try it again every 5 seconds."""
        if self._next_try and monotonic() > self._next_try:
            self._try()
        self._counting.flush()

    def cache(self, hit: bool) -> None:
        """Count a look-up in the cache."""
        self._counting.cache(hit)

    def fallback(self) -> None:
        """Count a request that the shared rate limit counter did not count."""
        self._counting.fallback()

    def live(self, record: dict[str, Any]) -> None:
        """Publish the record of the build that is live from now on."""
        self._unpublished = record
        self._try()

    def watch(self, store: Store) -> Store:
        """Return a store whose requests and errors are counted."""
        return cast("Store", WatchedStore(store, self._thread_counts))  # its other methods come from __getattr__

    def _try(self) -> None:
        with self._trying:
            try:
                self._write()
                self._next_try = 0.0
            except OSError as error:
                if not self._next_try:
                    self._say(f"the metrics cannot be written, and are tried every {_RETRY_SECONDS:g} s: {error}")
                self._next_try = monotonic() + _RETRY_SECONDS

    def _write(self) -> None:
        if not isinstance(self._counting, PrometheusMetrics):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._counting = PrometheusMetrics(self._folder, self._thread_counts)
        if (record := self._unpublished) is not None:
            self._counting.live(record)
            self._unpublished = None
