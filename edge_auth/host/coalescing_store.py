"""A store across a network, as the shim reads it: by `SingleFlight`, so shared, several ranges at once, never for long."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from edge_auth.contract.store.interface import Digest, Span, Store
from edge_auth.host.single_flight import SingleFlight

# Ranges of one object this close are fetched as one: a request costs more than so many bytes.
_GAP_BYTES = 32 << 10


class CoalescingStore:
    """A store, with reads that end in time; for the rest the store itself."""

    def __init__(self, store: Store, flights: SingleFlight):
        self._store = store
        self._flights = flights

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        return self._flights.get({(name, offset, length): lambda: self._store.get(name, offset, length)})[0]

    def get_many(self, spans: Sequence[Span]) -> list[bytes]:
        runs = _runs(spans)
        jobs = {(name, start, end): partial(self._store.get, name, start, end - start) for name, start, end in runs}
        parts = dict(zip(runs, self._flights.get(jobs), strict=True))
        return [_cut(parts, *span) for span in spans]

    def stat(self, name: str) -> int | None:
        return self._flights.get({("stat", name): lambda: self._store.stat(name)})[0]

    def digest(self, name: str) -> Digest | None:
        return self._flights.get({("digest", name): lambda: self._store.digest(name)})[0]


def with_deadline(store: Store, flights: SingleFlight) -> Store:
    """The store with reads that end in time; a folder as it is, which is nothing to wait for."""
    return store if store.local_path("") else CoalescingStore(store, flights)  # type: ignore[return-value]


def _runs(spans: Sequence[Span]) -> list[tuple[str, int, int]]:
    """Object, beginning and end of the requests that bring all spans: neighbours come together."""
    runs: list[tuple[str, int, int]] = []
    for name, offset, length in sorted(spans):
        if runs and runs[-1][0] == name and offset - runs[-1][2] <= _GAP_BYTES:
            runs[-1] = (name, runs[-1][1], max(runs[-1][2], offset + length))
        else:
            runs.append((name, offset, offset + length))
    return runs


def _cut(parts: dict[tuple[str, int, int], bytes], name: str, offset: int, length: int) -> bytes:
    """A span out of the run that holds it."""
    for (run, start, end), data in parts.items():
        if run == name and start <= offset and offset + length <= end:
            return data[offset - start : offset - start + length]
    raise AssertionError("unreachable")
