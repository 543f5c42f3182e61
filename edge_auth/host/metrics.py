"""What a worker counts, for Prometheus. `scrape` gives it out, from the process that started the workers.

A worker counts in files under the metrics folder that it has mapped into memory (prometheus-client's multiprocess
mode), so counting is neither a lock between processes nor a system call, and what a worker counted outlives it. The
files are named by slots, not by processes: a worker takes a free slot, and the one that replaces it counts on there.
"""

import fcntl
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, wraps
from itertools import count
from pathlib import Path
from threading import local
from typing import Any, TextIO

from edge_auth.contract.store.interface import Span, Store
from edge_auth.core.request import Answer
from edge_auth.errors import StoreError

LIVE_NAME = "live.json"
NONE = "none"  # the label of what has no endpoint or no key
_SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_COUNTED_OPERATIONS = ("get", "get_versioned", "stat", "digest")
_HIT, _MISS = ("cache_hits",), ("cache_misses",)
_FILE_BYTES = 1 << 20


class Metrics:
    """Counts nothing: what a shim has that nobody scrapes."""

    def request(self, answer: Answer, seconds: float) -> None:
        """An answered request of the API, and whatever its thread counted on the way."""

    def flush(self) -> None:
        """What this thread counted, where no request of the API follows."""

    def cache(self, hit: bool) -> None:
        """A look into the cache."""

    def fallback(self) -> None:
        """A request that the shared counter did not count."""

    def live(self, record: dict) -> None:
        """Which build answers from now on."""

    def watched(self, store: Store) -> Store:
        """The store with its requests and errors counted."""
        return store


class _Tally(local):
    """What a thread has counted since it was last flushed: a search reads a store fifty times for one answer."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, ...], int] = {}

    def add(self, what: tuple[str, ...]) -> None:
        """Add one to a metric by its name and labels."""
        counts = self.counts
        counts[what] = counts.get(what, 0) + 1


class PrometheusMetrics(Metrics):
    """The counts of one worker. To be made in its process, once."""

    def __init__(self, folder: Path):
        """Raises OSError where the folder cannot be written."""
        # Not before somebody wants metrics: the import takes a while.
        from prometheus_client import Counter, Histogram, values

        self._folder = folder
        slot, self._lock = _free_slot(folder)
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
        values.ValueClass = values.MultiProcessValue(lambda: slot)

        def counter(name: str, help_: str, *labels: str) -> Callable:
            metric = Counter(f"cardpress_{name}", help_, labels, registry=None)
            return cache(metric.labels) if labels else lambda: metric

        self._requests = counter("requests", "Requests answered.", "endpoint", "status")
        self._limited = counter("rate_limited", "Requests refused by the rate limit.", "key")
        self._failed = counter("failed", "Requests answered 500.", "key")
        self._fallbacks = counter("rate_limit_fallbacks", "Requests that the shared counter did not count.")
        self._tallied = {
            "store_requests": counter("store_requests", "Requests to the store.", "operation"),
            "store_errors": counter("store_errors", "Requests to the store that failed.", "operation"),
            "cache_hits": counter("cache_hits", "Bodies and search results found in memory."),
            "cache_misses": counter("cache_misses", "Bodies and search results that had to be made."),
        }
        seconds = Histogram(
            "cardpress_request_seconds", "Time to an answer.", ["endpoint"], buckets=_SECONDS, registry=None
        )
        self._seconds = cache(seconds.labels)
        for operation in _COUNTED_OPERATIONS:  # a series that is there from the start can be alerted on
            self._tallied["store_errors"](operation)
        self._tally = _Tally()
        counter("worker_starts", "Workers started: more than there are means that some were replaced.")().inc()

    def request(self, answer: Answer, seconds: float) -> None:
        endpoint = answer.endpoint or NONE
        self._requests(endpoint, answer.status).inc()
        self._seconds(endpoint).observe(seconds)
        if answer.status == 429:
            self._limited(answer.key_id or NONE).inc()
        elif answer.status >= 500:
            self._failed(answer.key_id or NONE).inc()
        self.flush()

    def flush(self) -> None:
        counts = self._tally.counts
        for (name, *labels), number in counts.items():
            self._tallied[name](*labels).inc(number)
        counts.clear()

    def cache(self, hit: bool) -> None:
        self._tally.add(_HIT if hit else _MISS)

    def fallback(self) -> None:
        self._fallbacks().inc()

    def live(self, record: dict) -> None:
        with suppress(OSError):
            temporary = self._folder / f".{LIVE_NAME}-{os.getpid()}"
            temporary.write_text(json.dumps({name: record.get(name) for name in ("id", "as_of", "freshness")}))
            temporary.replace(self._folder / LIVE_NAME)

    def watched(self, store: Store) -> Store:
        return _WatchedStore(store, self._tally)  # type: ignore[return-value]


class _WatchedStore:
    """A store whose reads are counted; for the rest the store itself."""

    def __init__(self, store: Store, tally: _Tally):
        self._store = store
        self._tally = tally

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name in _COUNTED_OPERATIONS:
            found = self._counted(name, found)
        setattr(self, name, found)
        return found

    def get_many(self, spans: Sequence[Span]) -> list[bytes]:
        return [self.get(*span) for span in spans]

    def _counted(self, operation: str, call: Callable) -> Callable:
        add, asked, failed = self._tally.add, ("store_requests", operation), ("store_errors", operation)

        @wraps(call)
        def counted(*arguments: Any, **named: Any) -> Any:
            add(asked)
            try:
                return call(*arguments, **named)
            except StoreError:
                add(failed)
                raise

        return counted


def _free_slot(folder: Path) -> tuple[int, TextIO]:
    """The first slot that no living worker holds, and the lock that holds it as long as this process lives."""
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
    """Take the bytes of a mapped file from the disk now: with a full disk, writing to them would end the process."""
    with file.open("ab") as opened:
        if os.fstat(opened.fileno()).st_size == 0:
            os.posix_fallocate(opened.fileno(), 0, _FILE_BYTES)
