"""A store in an S3 bucket. `open` imports this module only for such stores, since boto3 is slow to import."""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

from edge_auth.errors import AccessDenied, Conflict, MissingObject, StoreError
from edge_auth.store.bucket import BATCH_TIMEOUTS, Bucket, Head, plain_etag, request_timeouts
from edge_auth.store.interface import MAX_DOCUMENT_BYTES, PRIVATE, Digest, Listed, Versioned
from edge_auth.store.s3_client import Timeouts
from edge_auth.store.s3_errors import is_not_implemented, is_unchanged

_PROBED = b"probe"
_PROBE_LOCK = Lock()


class S3Store:
    """A store in a bucket; see `edge_auth.store.interface.Store` for its methods.

    Before its first write it tries every request that a store needs.

    Args:
        swaps: Whether the caller uses `put_new` or `swap`. Without them the test is left out.
    """

    def __init__(self, location: str, timeouts: Timeouts = BATCH_TIMEOUTS, swaps: bool = True):
        self._bucket = Bucket(location, timeouts)
        self._swaps = swaps
        self.location = self._bucket.location

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Return an object, verified, or `length` bytes of it from `offset`."""
        if length == 0:
            self._existing(name)
            return b""
        return self._bucket.get(name, offset, length)[0]

    def get_versioned(
        self, name: str, known: Versioned | None = None, most: int | None = MAX_DOCUMENT_BYTES
    ) -> Versioned | None:
        """Return an object with its tag, or None if it does not exist."""
        try:
            data, head = self._bucket.get(name, unless=known.etag if known is not None else "", most=most)
        except MissingObject:
            return None
        except StoreError as error:
            if not is_unchanged(error):
                raise
            return known
        return Versioned(data, head.etag)

    def put(self, name: str, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Create or replace an object."""
        self._probe_once()
        self._bucket.put(name, data, headers)

    def put_new(self, name: str, data: bytes) -> bool:
        """Create an object unless the name is taken. Return whether it was created."""
        self._probe_once()
        return self._bucket.put_if(name, data, None)

    def swap(self, name: str, data: bytes, etag: str | None) -> None:
        """Replace an object if its tag is still `etag`; with None, create it if it does not exist."""
        self._probe_once()
        if not self._bucket.put_if(name, data, etag):
            raise Conflict(f"another writer has changed {name} in {self.location}: check it, then try again")

    def sync(self) -> None:
        """Wait for nothing: a bucket has stored an object when it answers."""

    def stat(self, name: str) -> int | None:
        """Return the size of an object in bytes, or None if it does not exist."""
        head = self._bucket.head(name)
        return head.size if head else None

    def digest(self, name: str) -> Digest | None:
        """Return the size and the recorded hash of an object, or None if it does not exist or has no recorded hash."""
        head = self._bucket.head(name)
        return Digest(head.size, head.sha256, head.etag) if head and head.sha256 else None

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the names below a prefix that ends in `/`, sorted."""
        return (entry.name for entry in self.entries(prefix))

    def entries(self, prefix: str) -> Iterator[Listed]:
        """Yield the objects below a prefix that ends in `/`, or the one object of that name, sorted."""
        is_name = prefix and not prefix.endswith("/")
        for entry in self._bucket.list(prefix):
            if not entry["Key"].endswith("/") and (not is_name or entry["Key"] == prefix):
                yield self._listed(entry)

    def children(self, prefix: str) -> Iterator[Listed]:
        """Yield what is directly below a prefix that is '' or ends in `/`, sorted; the names of folders end in `/`."""
        entries = (entry for entry in self._bucket.list(prefix, Delimiter="/") if entry["Key"] != prefix)
        return iter(sorted(Listed(e["Key"], 0, 0) if e["Key"].endswith("/") else self._listed(e) for e in entries))

    def leftovers(self) -> Iterator[Listed]:
        """Yield nothing. A lifecycle rule of the bucket deletes interrupted multipart uploads."""
        return iter(())

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects. Names that do not exist are ignored."""
        self._bucket.delete(list(names))

    def local_path(self, name: str) -> None:
        """Return None: an S3 object is not a local file."""

    def probe(self) -> None:
        """Try every request that a store needs, on an object that is then deleted.

        Some servers ignore the conditions of writes, and then two writers can both succeed. Some ignore ranges, or the
        delimiter of a listing.

        Raises:
            StoreError: The server does so, or fails in one of the requests, which the message names.
        """
        name = f"{PRIVATE}probe-{secrets.token_hex(8)}"
        try:
            self._try_write_and_read(name)
        except StoreError:
            with suppress(StoreError):
                self._bucket.delete([name])
            raise
        with _named("delete"), suppress(AccessDenied):  # credentials that may write may still not delete
            self._try_delete(name)

    def _try_write_and_read(self, name: str) -> None:
        with _named("write"):
            if not self._tried_conditions(name):
                raise StoreError(
                    f"{self.location}: this server does not honour conditional writes (If-None-Match, If-Match), "
                    "without which two writers could overwrite each other: use one that the page `Where it runs` names"
                )
        with _named("read"):
            if (self.get(name), self.get(name, 1, 2)) != (_PROBED, _PROBED[1:3]):
                raise StoreError(f"{self.location}: the server returns other bytes than were written")
        with _named("list"), suppress(AccessDenied):  # credentials that may write may still not list
            if [entry.name for entry in self.entries(name)] != [name]:
                raise StoreError(f"{self.location}: an object that was just written is not listed")
            if PRIVATE not in [child.name for child in self.children("")]:
                raise StoreError(f"{self.location}: the server ignores the prefix or the delimiter of a listing")

    def _try_delete(self, name: str) -> None:
        self._bucket.delete([name, f"{name}-absent"])  # a batch
        if self._bucket.head(name) is not None:
            raise StoreError(f"{self.location}: an object is still there after the server answered that it is gone")

    def _tried_conditions(self, name: str) -> bool:
        """Return whether the server honours the conditions of writes."""
        try:
            return (
                self._bucket.put_if(name, b"1", None)
                and not self._bucket.put_if(name, b"2", None)
                and not self._bucket.put_if(name, b"3", "0" * 32)
                and self._tried_swap(name)
            )
        except StoreError as error:
            if not is_not_implemented(error):
                raise
            return False

    def _tried_swap(self, name: str) -> bool:
        """Return whether a write with the right ETag succeeds, with or without quotes around the ETag."""
        dialect = self._bucket.dialect
        for dialect.quotes in (False, True):
            with suppress(Conflict):
                if self._bucket.put_if(name, _PROBED, self._existing(name).etag):
                    return True
        dialect.quotes = False
        return False

    def _probe_once(self) -> None:
        with _PROBE_LOCK:
            if self._swaps and self.location not in self._bucket.dialect.tried:
                self.probe()
                self._bucket.dialect.tried.add(self.location)

    def _listed(self, entry: dict[str, Any]) -> Listed:
        try:
            return Listed(
                entry["Key"], entry["Size"], entry["LastModified"].timestamp(), plain_etag(entry.get("ETag", ""))
            )
        except KeyError as error:
            raise StoreError(f"{entry['Key']} in {self.location}: the server's listing lacks its {error}") from error

    def _existing(self, name: str) -> Head:
        head = self._bucket.head(name)
        if head is None:
            raise MissingObject(f"{name} is not in {self.location}")
        return head


@contextmanager
def _named(verb: str) -> Iterator[None]:
    """Name the request of the trial that failed."""
    try:
        yield
    except StoreError as error:
        raise type(error)(f"trial of {verb}: {error}") from error.__cause__


def open_s3(location: str, timeout_seconds: float | None, swaps: bool) -> S3Store:
    """Open a store in a bucket; see `edge_auth.store.open.open_store`."""
    timeouts = BATCH_TIMEOUTS if timeout_seconds is None else request_timeouts(timeout_seconds)
    return S3Store(location, timeouts, swaps)
