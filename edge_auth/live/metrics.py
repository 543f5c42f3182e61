"""The metrics of a worker, for Prometheus. `metrics_server` publishes them, in the process that started the workers.

A worker counts in memory-mapped files in the metrics folder (prometheus-client's multiprocess mode). So counting needs
neither a lock between processes nor a system call, and the counts of a worker survive it. Slots name the files: a
worker takes a free slot, and its successor goes on counting there.
"""

import copy
import fcntl
import json
import os
from collections.abc import Callable
from functools import cache, wraps
from itertools import count
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, TextIO

from generator.storage.builds import BuildRecord
from generator.storage.errors import StoreError
from generator.storage.stores.disk import replace_file
from generator.storage.stores.interface import Store

LIVE_NAME = "live.json"
NO_LABEL = "none"  # the label of requests without endpoint or key
_BUCKETS_SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_COUNTED_OPERATIONS = ("get", "get_versioned", "stat", "digest")
_FILE_BYTES = 1 << 20
_RETRY_SECONDS = 5.0


class Metrics:
    """What a worker counts in a folder, as soon as that can be written. Create it once, in the worker's process."""

    def __init__(self, folder: Path | None = None, say: Callable[[str], object] = print):
        self._folder = folder
        self._say = say
        self._counters: dict[str, Callable[..., Any]] = {}
        self._slot_lock: TextIO | None = None  # held until the process ends
        self._unpublished: BuildRecord | None = None
        self._next_try = inf
        self._trying = Lock()
        self._try()

    def request(self, endpoint: str | None, status: int, seconds: float, key_id: str | None) -> None:
        """Count an answer. `seconds` is the time that it took."""
        if monotonic() > self._next_try:
            self._try()
        if self._counters:
            endpoint = endpoint or NO_LABEL
            self.count("requests", endpoint, status)
            self._seconds(endpoint).observe(seconds)
            if status == 429:
                self.count("rate_limited", key_id or NO_LABEL)
            elif status >= 500:
                self.count("failed", key_id or NO_LABEL)

    def cache(self, hit: bool) -> None:
        self.count("cache_hits" if hit else "cache_misses")

    def live(self, record: BuildRecord) -> None:
        """Publish the record of the build that is live from now on."""
        self._unpublished = record
        self._try()

    def watch(self, store: Store) -> Store:
        """Return a store whose requests and errors are counted."""
        if self._folder is None:
            return store
        watched = copy.copy(store)
        for operation in _COUNTED_OPERATIONS:
            setattr(watched, operation, self._counted(operation, getattr(store, operation)))
        return watched

    def _counted(self, operation: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def counted(*arguments: Any, **keywords: Any) -> Any:
            self.count("store_requests", operation)
            try:
                return method(*arguments, **keywords)
            except StoreError:
                self.count("store_errors", operation)
                raise

        return counted

    def count(self, name: str, *labels: object) -> None:
        if self._counters:
            self._counters[name](*labels).inc()

    def _try(self) -> None:
        """Do what is still to be done: take a slot to count in, publish the live build."""
        if self._folder is None:
            return
        with self._trying:
            try:
                if not self._counters:
                    self._make_counters(self._folder)
                if (record := self._unpublished) is not None:
                    said = {name: record.get(name) for name in ("id", "as_of", "freshness")}
                    replace_file(self._folder / LIVE_NAME, [json.dumps(said).encode()])
                    self._unpublished = None
                self._next_try = inf
            except OSError as error:
                self._say(f"the metrics cannot be written, and are tried every {_RETRY_SECONDS:g} s: {error}")
                self._next_try = monotonic() + _RETRY_SECONDS

    def _make_counters(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        slot, self._slot_lock = _take_slot(folder)
        # The import is slow, and shims without metrics do not need it.
        from prometheus_client import Counter, Histogram, values

        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
        # This is the library's only way to name a worker's files by its slot. By process id, which is its default,
        # each successor of a worker would add two files of a megabyte.
        values.ValueClass = values.MultiProcessValue(lambda: slot)  # type: ignore[no-untyped-call]  # the library lacks it

        def counter(name: str, help_: str, *labels: str) -> Callable[..., Any]:
            metric = Counter(f"cardpress_{name}", help_, labels, registry=None)
            return cache(metric.labels) if labels else lambda: metric

        seconds = Histogram(
            "cardpress_request_seconds", "Time to an answer.", ["endpoint"], buckets=_BUCKETS_SECONDS, registry=None
        )
        self._seconds = cache(seconds.labels)
        counters = {name: counter(name, *more) for name, *more in _COUNTERS}
        for operation in _COUNTED_OPERATIONS:  # alerts need series that exist from the start
            counters["store_errors"](operation)
        counters["worker_starts"]().inc()
        self._counters = counters


# The name, what it counts, and its labels.
_COUNTERS = (
    ("requests", "Requests answered.", "endpoint", "status"),
    ("rate_limited", "Requests refused by the rate limit.", "key"),
    ("failed", "Requests answered 500.", "key"),
    ("rate_limit_fallbacks", "Requests that the shared counter did not count."),
    ("store_requests", "Requests to the store.", "operation"),
    ("store_errors", "Requests to the store that failed.", "operation"),
    ("cache_hits", "Bodies and search results found in memory."),
    ("cache_misses", "Bodies and search results not found in memory."),
    ("worker_starts", "Workers started. More than there are means that some were replaced."),
)


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
            with (folder / f"{kind}_{slot}.db").open("ab") as file:
                # Their space is reserved now: writing to a mapped file on a full disk would end the process.
                os.posix_fallocate(file.fileno(), 0, _FILE_BYTES)
        return slot, lock
    raise AssertionError("unreachable")
