"""A store in an S3 bucket. `open` imports this module only for such stores, since boto3 is slow to import."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any

from edge_auth.errors import Conflict, MissingObject, StoreError
from edge_auth.store.bucket import BATCH_TIMEOUTS, Bucket, Head, Timeouts, plain_etag, request_timeouts
from edge_auth.store.interface import PRIVATE, Digest, Listed, Span, Versioned
from edge_auth.store.s3_errors import is_not_implemented

# Locations where this process has tested conditional writes.
_PROBED: set[str] = set()
_PROBE_LOCK = Lock()


class S3Store:
    """A store in a bucket; see `edge_auth.store.interface.Store` for its methods.

    Before its first write it tests that the server honours conditional writes.

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

    def get_many(self, spans: Sequence[Span]) -> list[bytes]:
        """Return several ranges in input order."""
        return [self.get(*span) for span in spans]

    def get_versioned(self, name: str) -> Versioned | None:
        """Return an object with its tag, or None if it does not exist."""
        try:
            data, head = self._bucket.get(name)
        except MissingObject:
            return None
        return Versioned(data, head.etag)

    def put(self, name: str, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Create or replace an object."""
        self._probe_once()
        self._bucket.put(name, data, headers)

    def put_new(self, name: str, data: bytes) -> bool:
        """Create an object unless the name is taken. Return whether it was created."""
        self._probe_once()
        return self._bucket.put_if(name, data, IfNoneMatch="*")

    def swap(self, name: str, data: bytes, etag: str | None) -> None:
        """Replace an object if its tag is still `etag`; with None, create it if it does not exist."""
        self._probe_once()
        condition = {"IfNoneMatch": "*"} if etag is None else {"IfMatch": etag}
        if not self._bucket.put_if(name, data, **condition):
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
                yield _listed(entry)

    def children(self, prefix: str) -> Iterator[Listed]:
        """Yield what is directly below a prefix that is '' or ends in `/`, sorted; the names of folders end in `/`."""
        found = [entry for entry in self._bucket.list(prefix, Delimiter="/") if entry["Key"] != prefix]
        return iter(sorted(map(_listed, found)))

    def leftovers(self) -> Iterator[Listed]:
        """Yield nothing. A lifecycle rule of the bucket deletes interrupted multipart uploads."""
        return iter(())

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects. Names that do not exist are ignored."""
        self._bucket.delete(list(names))

    def file_lock(self, name: str) -> None:
        """Return None: a bucket has no locks that end with a process."""

    def local_path(self, name: str) -> None:
        """Return None: an S3 object is not a local file."""

    def probe(self) -> None:
        """Test that the server honours conditional writes. Some ignore them, and then two writers can both succeed.

        Raises:
            StoreError: It does not honour them, or the bucket cannot be written.
        """
        name = f"{PRIVATE}probe-{secrets.token_hex(8)}"
        try:
            honoured = (
                self._bucket.put_if(name, b"1", IfNoneMatch="*")
                and not self._bucket.put_if(name, b"2", IfNoneMatch="*")
                and not self._bucket.put_if(name, b"3", IfMatch="0" * 32)
                and self._bucket.put_if(name, b"4", IfMatch=self._existing(name).etag)
            )
        except StoreError as error:
            if not is_not_implemented(error):
                raise
            honoured = False
        finally:
            with suppress(StoreError):  # credentials that may write may still not delete
                self._bucket.delete([name])
        if not honoured:
            raise StoreError(
                f"{self.location}: this server does not honour conditional writes (If-None-Match, If-Match), without "
                "so two writers could overwrite each other: use a server that does, such as AWS S3, Ceph, MinIO or R2"
            )

    def _probe_once(self) -> None:
        with _PROBE_LOCK:
            if self._swaps and self.location not in _PROBED:
                self.probe()
                _PROBED.add(self.location)

    def _existing(self, name: str) -> Head:
        head = self._bucket.head(name)
        if head is None:
            raise MissingObject(f"{name} is not in {self.location}")
        return head


def _listed(entry: dict[str, Any]) -> Listed:
    if "Size" not in entry:
        return Listed(entry["Key"], 0, 0)
    return Listed(entry["Key"], entry["Size"], entry["LastModified"].timestamp(), plain_etag(entry["ETag"]))


def open_s3(location: str, timeout_seconds: float | None, swaps: bool) -> S3Store:
    """Open a store in a bucket; see `edge_auth.store.open.open_store`."""
    timeouts = BATCH_TIMEOUTS if timeout_seconds is None else request_timeouts(timeout_seconds)
    return S3Store(location, timeouts, swaps)
