"""A tree in a bucket. Every object is written by one request, so a reader sees it whole."""

import hashlib
from types import TracebackType
from typing import Self

from edge_auth.errors import MissingObject
from edge_auth.store.bucket import Bucket
from generator.errors import ExportError
from generator.tree.documents import TreeBody
from generator.tree.record import RECORD, TreeRecord

_CACHE_CONTROL = "no-cache"  # a reader asks whether its copy is current
_FILE_CACHE_CONTROL = "public, max-age=31536000, immutable"  # its name is made from its content


class BucketTarget:
    """A tree below `s3://bucket/prefix`; see `generator.tree.target.Target` for its methods."""

    threads = 16

    def __init__(self, location: str):
        self._bucket = Bucket(location)
        self.location = self._bucket.location
        self._etag: str | None = None
        self._record: bytes | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing: the record is written by compare-and-swap, which notices another export."""

    def suffixes(self, gzip: bool) -> tuple[str, ...]:
        """Return the empty suffix: each document is one object, and every object is compressed."""
        if gzip:
            raise ExportError("--gzip is for folders: the objects of a bucket are compressed without it")
        return ("",)

    def files(self) -> dict[str, int]:
        """Return the size of every object but the record, by name."""
        return {entry["Key"]: entry["Size"] for entry in self._bucket.list() if entry["Key"] not in ("", RECORD)}

    def read_record(self) -> TreeRecord | None:
        """Return the record, or None."""
        try:
            self._record, head = self._bucket.get(RECORD)
        except MissingObject:
            return None
        self._etag = head.etag
        return TreeRecord.from_bytes(self._record, self.location)

    def write_record(self, record: TreeRecord) -> None:
        """Replace the record, if it differs and no other export replaced it."""
        data = record.to_bytes()
        if data == self._record:
            return
        condition = {"IfMatch": self._etag} if self._etag else {"IfNoneMatch": "*"}
        if not self._bucket.put_if(RECORD, data, **condition):
            raise ExportError(f"another export is writing to {self.location}: wait until it has ended")
        head = self._bucket.head(RECORD)
        self._record, self._etag = data, head.etag if head else None
        if head is None or head.sha256 != hashlib.sha256(data).hexdigest():
            raise ExportError(f"another export is writing to {self.location}: wait until it has ended")

    def write(self, name: str, body: TreeBody, suffix: str) -> int:
        """Write an object as a gzip member, or a bulk file as it is, and return its size."""
        if body.is_file:
            data, headers = body.plain, {"CacheControl": _FILE_CACHE_CONTROL}
        else:
            data, headers = body.member, {"CacheControl": _CACHE_CONTROL, "ContentEncoding": "gzip"}
        self._bucket.put(name, data, ContentType=body.media_type, **headers)
        return len(data)

    def delete(self, names: list[str]) -> None:
        """Delete objects."""
        self._bucket.delete(names)
