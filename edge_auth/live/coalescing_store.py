"""A store across a network, with reads that are shared, concurrent, coalesced, patient, and have a deadline."""

import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

from edge_auth.errors import Throttled
from edge_auth.live.single_flight import SingleFlight
from edge_auth.store.interface import Digest, Span, Store

# Ranges of an object that are this close are fetched together: another request would take longer than the extra bytes.
_MAX_GAP_BYTES = 32 << 10
_PAUSES_SECONDS = (0.2, 0.4, 0.8)  # at most, after a read that boto3 has tried twice

T = TypeVar("T")


class _Range(NamedTuple):
    """A range of an object, from `start` to before `end`."""

    name: str
    start: int
    end: int


class CoalescingStore:
    """A store whose reads go through a `SingleFlight`. Other methods are those of the store itself."""

    def __init__(self, store: Store, single_flight: SingleFlight):
        self._store = store
        self._single_flight = single_flight

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Return an object, or `length` bytes of it from `offset`."""
        read = partial(_patiently, self._store.get, name, offset, length)
        return self._single_flight.get({(name, offset, length): read})[0]

    def get_many(self, spans: Sequence[Span]) -> list[bytes]:
        """Return several ranges in input order."""
        ranges = _coalesce(spans)
        jobs = {
            (name, start, end): partial(_patiently, self._store.get, name, start, end - start)
            for name, start, end in ranges
        }
        fetched = dict(zip(ranges, self._single_flight.get(jobs), strict=True))
        return [_cut(fetched, *span) for span in spans]

    def stat(self, name: str) -> int | None:
        """Return the size of an object in bytes, or None if it does not exist."""
        return self._single_flight.get({("stat", name): partial(_patiently, self._store.stat, name)})[0]

    def digest(self, name: str) -> Digest | None:
        """Return the size and hash of an object, or None."""
        return self._single_flight.get({("digest", name): partial(_patiently, self._store.digest, name)})[0]


def with_deadline(store: Store, single_flight: SingleFlight) -> Store:
    """Return a store whose reads have a deadline. A folder is returned unchanged, since it needs no waiting."""
    if store.local_path(""):
        return store
    return cast("Store", CoalescingStore(store, single_flight))  # its other methods come from __getattr__


def _patiently(read: Callable[..., T], *arguments: object) -> T:
    """Return the result of a read. If the store throttles, read again after pauses that grow."""
    for pause in _PAUSES_SECONDS:
        try:
            return read(*arguments)
        except Throttled:
            time.sleep(random.uniform(0, pause))  # random, so that requests do not come back in step
    return read(*arguments)


def _coalesce(spans: Sequence[Span]) -> list[_Range]:
    """Return the ranges to fetch for some spans, with neighbouring spans in one range."""
    ranges: list[_Range] = []
    for name, offset, length in sorted(spans):
        last = ranges[-1] if ranges else None
        if last and last.name == name and offset - last.end <= _MAX_GAP_BYTES:
            ranges[-1] = _Range(name, last.start, max(last.end, offset + length))
        else:
            ranges.append(_Range(name, offset, offset + length))
    return ranges


def _cut(fetched: dict[_Range, bytes], name: str, offset: int, length: int) -> bytes:
    """Return a span from the range that contains it."""
    for range_, data in fetched.items():
        if range_.name == name and range_.start <= offset and offset + length <= range_.end:
            return data[offset - range_.start : offset - range_.start + length]
    raise AssertionError("unreachable")
