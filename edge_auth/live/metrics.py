"""The metrics of a worker, for Prometheus. `metrics_server` publishes them, in the process that started the workers.

A worker counts in memory-mapped files in the metrics folder (prometheus-client's multiprocess mode). So counting needs
neither a lock between processes nor a system call, and the counts of a worker survive it. Slots name the files: a
worker takes a free slot, and its successor goes on counting there.
"""

import fcntl
import json
import os
from collections.abc import Callable
from functools import cache, wraps
from itertools import count
from pathlib import Path
from threading import Lock, local
from time import monotonic
from typing import Any, TextIO, cast

from edge_auth.builds.builds import BuildRecord
from edge_auth.errors import StoreError
from edge_auth.live.log import Answered
from edge_auth.store.disk import reserve
from edge_auth.store.interface import Store

LIVE_NAME = "live.json"
NO_LABEL = "none"  # the label of requests without endpoint or key
_BUCKETS_SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_COUNTED_OPERATIONS = ("get", "get_versioned", "stat", "digest")
_HIT, _MISS = ("cache_hits",), ("cache_misses",)
_FILE_BYTES = 1 << 20
_RETRY_SECONDS = 5.0


class Metrics:
    """Counts what a worker does. This class counts nothing: it is for a shim without a metrics endpoint."""

    def request(self, one: Answered) -> None:
        """Count an answered request of the API, and flush."""

    def flush(self) -> None:
        """Publish what this thread has counted. Call it if no request of the API follows."""

    def cache(self, hit: bool) -> None:
        """Count a look-up in the cache."""

    def fallback(self) -> None:
        """Count a request that the shared rate limit counter did not count."""

    def live(self, record: BuildRecord) -> None:
        """Publish the record of the build that is live from now on."""

    def watch(self, store: Store) -> Store:
        """Return a store whose requests and errors are counted."""
        return store


class ThreadCounts(local):
    """The counts of a thread since its last flush. One request can read the store several times."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, ...], int] = {}

    def add(self, series: tuple[str, ...]) -> None:
        """Add one to a metric, given by its name and labels."""
        counts = self.counts
        counts[series] = counts.get(series, 0) + 1


class PrometheusMetrics(Metrics):
    """The metrics of one worker. Create it once, in the worker's process.

    Raises:
        OSError: The folder cannot be written. `RetriedMetrics` tries again.
    """

    def __init__(self, folder: Path, thread_counts: ThreadCounts):
        # The import is slow, and shims without metrics do not need it.
        from prometheus_client import Counter, Histogram, values

        self._folder = folder
        slot, self._lock = _take_slot(folder)
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
        # This is the library's only way to name a worker's files by its slot. By process id, which is its default,
        # each successor of a worker would add two files of a megabyte.
        values.ValueClass = values.MultiProcessValue(lambda: slot)  # type: ignore[no-untyped-call]  # the library lacks it

        def counter(name: str, help_: str, *labels: str) -> Callable[..., Any]:
            metric = Counter(f"cardpress_{name}", help_, labels, registry=None)
            return cache(metric.labels) if labels else lambda: metric

        self._requests = counter("requests", "Requests answered.", "endpoint", "status")
        self._rate_limited = counter("rate_limited", "Requests refused by the rate limit.", "key")
        self._failed = counter("failed", "Requests answered 500.", "key")
        self._fallbacks = counter("rate_limit_fallbacks", "Requests that the shared counter did not count.")
        self._counters = {
            "store_requests": counter("store_requests", "Requests to the store.", "operation"),
            "store_errors": counter("store_errors", "Requests to the store that failed.", "operation"),
            "cache_hits": counter("cache_hits", "Bodies and search results found in memory."),
            "cache_misses": counter("cache_misses", "Bodies and search results not found in memory."),
        }
        seconds = Histogram(
            "cardpress_request_seconds", "Time to an answer.", ["endpoint"], buckets=_BUCKETS_SECONDS, registry=None
        )
        self._seconds = cache(seconds.labels)
        for operation in _COUNTED_OPERATIONS:  # alerts need series that exist from the start
            self._counters["store_errors"](operation)
        self._thread_counts = thread_counts
        counter("worker_starts", "Workers started. More than there are means that some were replaced.")().inc()

    def request(self, one: Answered) -> None:
        """Count an answered request of the API, and flush."""
        endpoint = one.endpoint or NO_LABEL
        self._requests(endpoint, one.status).inc()
        self._seconds(endpoint).observe(one.seconds)
        if one.status == 429:
            self._rate_limited(one.key_id or NO_LABEL).inc()
        elif one.status >= 500:
            self._failed(one.key_id or NO_LABEL).inc()
        self.flush()

    def flush(self) -> None:
        """Publish what this thread has counted."""
        counts = self._thread_counts.counts
        for (name, *labels), number in counts.items():
            self._counters[name](*labels).inc(number)
        counts.clear()

    def cache(self, hit: bool) -> None:
        """Count a look-up in the cache."""
        self._thread_counts.add(_HIT if hit else _MISS)

    def fallback(self) -> None:
        """Count a request that the shared rate limit counter did not count."""
        self._fallbacks().inc()

    def live(self, record: BuildRecord) -> None:
        """Publish the record of the build that is live from now on.

        Raises:
            OSError: The folder cannot be written.
        """
        temporary = self._folder / f".{LIVE_NAME}-{os.getpid()}"
        temporary.write_text(json.dumps({name: record.get(name) for name in ("id", "as_of", "freshness")}))
        temporary.replace(self._folder / LIVE_NAME)


class WatchedStore:
    """A store whose reads are counted. Other methods are those of the store itself."""

    def __init__(self, store: Store, thread_counts: ThreadCounts):
        self._store = store
        self._thread_counts = thread_counts

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name in _COUNTED_OPERATIONS:
            method = self._counted(name, method)
        setattr(self, name, method)
        return method

    def _counted(self, operation: str, method: Callable[..., Any]) -> Callable[..., Any]:
        add, requests, errors = self._thread_counts.add, ("store_requests", operation), ("store_errors", operation)

        @wraps(method)
        def counted(*arguments: Any, **keywords: Any) -> Any:
            add(requests)
            try:
                return method(*arguments, **keywords)
            except StoreError:
                add(errors)
                raise

        return counted


def _take_slot(folder: Path) -> tuple[int, TextIO]:
    """Return the first slot that no other worker holds, and its lock, which this process holds until it ends."""
    for slot in count():
        lock = (folder / f"slot-{slot}").open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        for kind in ("counter", "histogram"):
            _allocate(folder / f"{kind}_{slot}.db")
        return slot, lock
    raise AssertionError("unreachable")


def _allocate(file: Path) -> None:
    """Reserve the disk space of a mapped file now. Writing to it on a full disk would end the process."""
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if os.fstat(handle).st_size < _FILE_BYTES:  # a full disk may have left a part of it
            reserve(handle, _FILE_BYTES)
    finally:
        os.close(handle)


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
        self._unpublished: BuildRecord | None = None
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

    def live(self, record: BuildRecord) -> None:
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
