"""The store in an S3 bucket. Imported only where a location begins with s3://, since boto3 takes its time to load."""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from threading import Lock

from edge_auth.contract.store.bucket import PATIENT, Bucket, Head, Patience, hurried
from edge_auth.contract.store.interface import Digest, Listed, Span, Versioned
from edge_auth.contract.store.s3_errors import is_unknown
from edge_auth.errors import Conflict, MissingObject, StoreError

# Locations that this process has found to compare and swap.
_PROBED: set[str] = set()
_PROBING = Lock()


class S3Store:
    """A store below `s3://bucket/prefix`; see `edge_auth.contract.store` for the interface and its errors.

    Before its first write it makes sure that the server compares and swaps.
    """

    def __init__(self, location: str, patience: Patience = PATIENT):
        self._bucket = Bucket(location, patience)
        self.location = self._bucket.location

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """The bytes of an object, or `length` of them from `offset`; whole ones are checked against their hash."""
        if length == 0:
            self._present(name)
            return b""
        return self._bucket.get(name, offset, length)[0]

    def get_many(self, spans: Sequence[Span]) -> list[bytes]:
        """Several ranges, in their order."""
        return [self.get(*span) for span in spans]

    def get_versioned(self, name: str) -> Versioned | None:
        """The object with its tag, or None where it does not exist."""
        try:
            data, head = self._bucket.get(name)
        except MissingObject:
            return None
        return Versioned(data, head.etag)

    def put(self, name: str, data: bytes) -> None:
        """Write an object whole."""
        self._probe_once()
        self._bucket.put(name, data)

    def put_new(self, name: str, data: bytes) -> bool:
        """Write an object unless one has that name already; tells whether it was written."""
        self._probe_once()
        return self._bucket.put_if(name, data, IfNoneMatch="*")

    def swap(self, name: str, data: bytes, etag: str | None) -> None:
        """Replace an object only if its tag is still `etag` (None: only if it does not exist).

        Raises:
            Conflict: somebody else changed it first.
        """
        self._probe_once()
        self._swap(name, data, etag)

    def stat(self, name: str) -> int | None:
        """Size of an object in bytes, or None where it does not exist."""
        head = self._bucket.head(name)
        return head.size if head else None

    def digest(self, name: str) -> Digest | None:
        """Size and SHA-256 of an object as noted when it was written, or None where it or the note is missing."""
        head = self._bucket.head(name)
        return Digest(head.size, head.sha256) if head and head.sha256 else None

    def list(self, prefix: str) -> Iterator[str]:
        """Names of the objects below a prefix that ends in `/`, sorted."""
        return (entry.name for entry in self.entries(prefix))

    def entries(self, prefix: str) -> Iterator[Listed]:
        """The objects below a prefix that ends in `/`, or the one of that name, sorted, with size and age."""
        one = prefix and not prefix.endswith("/")
        for entry in self._bucket.list(prefix):
            if not entry["Key"].endswith("/") and (not one or entry["Key"] == prefix):
                yield Listed(entry["Key"], entry["Size"], entry["LastModified"].timestamp())

    def leftovers(self) -> Iterator[Listed]:
        """None that are objects: uploads in parts that were broken off are the business of a lifecycle rule."""
        return iter(())

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; those already gone are no error."""
        self._bucket.delete(list(names))

    def local_path(self, name: str) -> None:
        """An S3 object is no local file."""

    def probe(self) -> None:
        """Make sure that the server honours conditional writes: some ignore them, and then nobody ever loses.

        Raises:
            StoreError: it does not, or the bucket cannot be written.
        """
        name = f"private/probe-{secrets.token_hex(8)}"
        try:
            honoured = (
                self._bucket.put_if(name, b"1", IfNoneMatch="*")
                and not self._bucket.put_if(name, b"2", IfNoneMatch="*")
                and not self._bucket.put_if(name, b"3", IfMatch="0" * 32)
                and self._bucket.put_if(name, b"4", IfMatch=self._present(name).etag)
            )
        except StoreError as error:
            if not is_unknown(error):
                raise
            honoured = False
        finally:
            with suppress(StoreError):  # who may not delete may still write
                self._bucket.delete([name])
        if not honoured:
            raise StoreError(
                f"{self.location}: this server does not honour conditional writes (If-None-Match, If-Match), without "
                "which two writers could both win: use one that does, such as AWS S3, Ceph, MinIO or R2"
            )

    def _probe_once(self) -> None:
        with _PROBING:
            if self.location not in _PROBED:
                self.probe()
                _PROBED.add(self.location)

    def _swap(self, name: str, data: bytes, etag: str | None) -> None:
        condition = {"IfNoneMatch": "*"} if etag is None else {"IfMatch": etag}
        if not self._bucket.put_if(name, data, **condition):
            raise Conflict(f"{name} in {self.location} was changed by somebody else meanwhile: look, then try again")

    def _present(self, name: str) -> Head:
        head = self._bucket.head(name)
        if head is None:
            raise MissingObject(f"{name} is not in {self.location}")
        return head


def open_s3(location: str, timeout_seconds: float | None) -> S3Store:
    """Open a store in a bucket; see `edge_auth.contract.store.open.open_store`."""
    return S3Store(location, PATIENT if timeout_seconds is None else hurried(timeout_seconds))
