"""A store in an S3 bucket. `open` imports this module only for such stores, since boto3 is slow to import.

boto3 finds credentials, region and endpoint in its usual places (environment, profile, role).
docs/decisions/store.md lists what differs between S3 servers.
"""

import hashlib
import io
import random
import re
import secrets
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any, TypeVar

from botocore.exceptions import IncompleteReadError, ResponseStreamingError
from botocore.parsers import ResponseParserError

from edge_auth.errors import AccessDenied, Conflict, MissingObject, StoreError
from edge_auth.store.interface import MAX_DOCUMENT_BYTES, PRIVATE, Digest, Listed, Store, Versioned, check_size
from edge_auth.store.s3_client import S3Client, Timeouts
from edge_auth.store.s3_errors import status_of, translated_errors

_LOCATION = re.compile("s3://([^/]+)/*(.*?)/*")
_SHA256 = re.compile("[0-9a-f]{64}")
_MAX_WRITE_ATTEMPTS = 3
_DELETE_THREADS = 8
_FIRST_PAUSE_SECONDS = 0.1
# A batch run prefers waiting to failing. A request of the API prefers failing to waiting.
BATCH_TIMEOUTS = Timeouts(5, 5, 60)
# What boto3 does not send again: an answer that broke off, or bytes that are not those that were written.
_TORN = (IncompleteReadError, ResponseStreamingError, ResponseParserError, ValueError)
_PROBED = b"probe"
_PROBE_LOCK = Lock()
# By the endpoint and the location that this process has tried: what stands around an ETag in a condition. Ceph compares
# it without quotes, R2 takes it with quotes alone, other servers do both.
_QUOTES: dict[tuple[str, str], str] = {}

_Result = TypeVar("_Result")


class S3Store(Store):
    """A store in a bucket. Before its first write it tries every request that a store needs.

    Args:
        swaps: Whether the caller uses `swap`. Without it the test is left out.
    """

    def __init__(self, location: str, timeouts: Timeouts = BATCH_TIMEOUTS, swaps: bool = True):
        found = _LOCATION.fullmatch(location)
        if not found:
            raise StoreError(f"{location} is not a location in a bucket: write s3://bucket/prefix")
        self._bucket, self._prefix = found[1], f"{found[2]}/" if found[2] else ""
        self.location = f"s3://{self._bucket}/{self._prefix}".rstrip("/")
        self._s3, self._attempts = S3Client(timeouts), timeouts.attempts
        self._swaps, self._quotes = swaps, ""

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        return self._read(name, offset, length).data if length != 0 else self._read(name).data[:0]

    def get_versioned(
        self, name: str, known: Versioned | None = None, most: int | None = MAX_DOCUMENT_BYTES
    ) -> Versioned | None:
        try:
            return self._read(name, most=most, unless=known.etag if known is not None else "")
        except MissingObject:
            return None
        except StoreError as error:
            if status_of(error) != 304:
                raise
            return known

    def put(self, name: str, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._try_once()
        self._put(name, data, headers or {})

    def swap(self, name: str, data: bytes, etag: str | None) -> None:
        self._try_once()
        self._swap(name, data, etag)

    def stat(self, name: str) -> int | None:
        head = self._head(name)
        return head.size if head else None

    def digest(self, name: str) -> Digest | None:
        head = self._head(name)
        return head if head and head.sha256 else None

    def entries(self, prefix: str, *, deep: bool = True) -> Iterator[Listed]:
        is_name = prefix and not prefix.endswith("/")
        options = {"Bucket": self._bucket, "Prefix": self._prefix + prefix} | ({} if deep else {"Delimiter": "/"})
        for page in self._pages(prefix, options):
            found = [self._listed(entry) for entry in page.get("Contents", ()) if not entry["Key"].endswith("/")]
            found += [Listed(self._relative(entry["Prefix"]), 0, 0) for entry in page.get("CommonPrefixes", ())]
            yield from sorted(entry for entry in found if not is_name or entry.name == prefix)

    def delete(self, names: Iterable[str]) -> None:
        with ThreadPoolExecutor(_DELETE_THREADS) as pool:
            for _ in pool.map(self._delete_one, names):
                pass

    def probe(self) -> None:
        """Try every request that a store needs, on an object that is then deleted.

        Some servers ignore the conditions of writes, and then two writers can both succeed. Some ignore ranges, or the
        delimiter of a listing.
        """
        name = f"{PRIVATE}probe-{secrets.token_hex(8)}"
        try:
            with _named("write"):
                self._try_conditions(name)
            with _named("read"):
                if (self.get(name), self.get(name, 1, 2)) != (_PROBED, _PROBED[1:3]):
                    raise StoreError(f"{self.location}: the server returns other bytes than were written")
            with _named("list"), suppress(AccessDenied):  # credentials that may write may still not list
                self._try_listing(name)
        except StoreError:
            with suppress(StoreError):
                self._delete_one(name)
            raise
        with _named("delete"), suppress(AccessDenied):  # nor delete
            self._delete_one(name)
            if self._head(name) is not None:
                raise StoreError(f"{self.location}: an object is still there after the server answered that it is gone")

    def _try_once(self) -> None:
        with translated_errors(self.location, ""):
            place = self._s3.client.meta.endpoint_url, self.location
        with _PROBE_LOCK:
            if self._swaps and place not in _QUOTES:
                self.probe()
                _QUOTES[place] = self._quotes
            self._quotes = _QUOTES.get(place, "")

    def _try_conditions(self, name: str) -> None:
        """Try whether the server honours the conditions of writes, and what it wants around an ETag."""
        try:
            self._swap(name, b"1", None)
            if not self._is_written(name, b"2", None) and not self._is_written(name, b"3", "0" * 32):
                etag = self._read(name).etag
                for self._quotes in ("", '"'):
                    if self._is_written(name, _PROBED, etag):
                        return
        except StoreError as error:
            if status_of(error) != 501:
                raise
        raise StoreError(
            f"{self.location}: this server does not honour conditional writes (If-None-Match, If-Match), "
            "without which two writers could overwrite each other: use one that the page `Where it runs` names"
        )

    def _is_written(self, name: str, data: bytes, etag: str | None) -> bool:
        try:
            self._swap(name, data, etag)
        except StoreError as error:
            if not isinstance(error, Conflict) and status_of(error) != 400:  # R2 to an ETag without quotes
                raise
            return False
        return True

    def _try_listing(self, name: str) -> None:
        if [entry.name for entry in self.entries(name)] != [name]:
            raise StoreError(f"{self.location}: an object that was just written is not listed")
        if PRIVATE not in [child.name for child in self.entries("", deep=False)]:
            raise StoreError(f"{self.location}: the server ignores the prefix or the delimiter of a listing")

    def _read(
        self, name: str, first: int = 0, length: int | None = None, most: int | None = None, unless: str = ""
    ) -> Versioned:
        """Return an object or a range of it, with its tag; the answer is 304 if it still has the tag `unless`."""
        is_whole = not first and length is None
        last = "" if length is None else first + length - 1
        options = self._target(name) | ({} if is_whole else {"Range": f"bytes={first}-{last}"})
        options |= {"IfNoneMatch": f'"{unless}"'} if unless else {}

        def read(client: Any) -> Versioned:
            response = client.get_object(**options)
            head = _head(response)
            check_size(name, self.location, head.size, most)
            data = response["Body"].read()
            if is_whole and head.sha256 and hashlib.sha256(data).hexdigest() != head.sha256:
                raise ValueError("the content does not match its hash")
            if not is_whole and not response.get("ContentRange", "").startswith(f"bytes {first}-"):
                raise ValueError(
                    f"requested bytes from {first}, got {response.get('ContentRange', 'the whole object')}"
                )
            if length not in (None, len(data)):
                raise ValueError(f"ends at {first + len(data)}, expected {first + length} bytes")
            return Versioned(data, head.state)

        return self._run(name, read)

    def _head(self, name: str) -> Digest | None:
        """Return the head of an object, or None if it does not exist."""
        target = self._target(name)
        try:
            return self._run(name, lambda client: _head(client.head_object(**target, ChecksumMode="ENABLED")))
        except StoreError as error:
            if not 400 <= status_of(error) < 500:
                raise
        # A response to HEAD has no body, so it tells neither whether the object or the bucket is missing, nor a code.
        try:
            return self._run(name, lambda client: _head(client.get_object(**target)))
        except MissingObject:
            return None

    def _put(self, name: str, data: bytes, more: Mapping[str, str]) -> None:
        md5 = hashlib.md5(data, usedforsecurity=False).digest()
        metadata = {"sha256": hashlib.sha256(data).hexdigest()}
        options: dict[str, Any] = {"ContentMD5": b64encode(md5).decode(), "Metadata": metadata}
        # As a file the body is sent in blocks, and each may take the time of a connect. All at once would have to.
        options |= {**self._target(name), **more}
        self._run(name, lambda client: client.put_object(**options, Body=io.BytesIO(data)))

    def _swap(self, name: str, data: bytes, etag: str | None) -> None:
        """Write an object on a condition. If the answer was lost, the object shows whether the write succeeded.

        Boto3 sends a request again whose answer was lost, and the second one then loses against the first.
        """
        condition = {"IfNoneMatch": "*"} if etag is None else {"IfMatch": f"{self._quotes}{etag}{self._quotes}"}
        for pause in _pauses(_MAX_WRITE_ATTEMPTS):
            try:
                self._put(name, data, condition)
                return
            except StoreError as error:
                status = status_of(error)
                if (300 <= status < 500 or status == 501) and not isinstance(error, Conflict):
                    raise
                problem = error
            found = self._found_after(problem, name)
            if found is not None and found.data == data:
                return
            if etag != (found.etag if found else None):
                raise Conflict(f"another writer has changed {name} in {self.location}: check it, then try again")
            time.sleep(pause)
        raise problem

    def _found_after(self, problem: StoreError, name: str) -> Versioned | None:
        try:
            return self.get_versioned(name, most=None)
        except StoreError as error:
            raise StoreError(f"{problem}; it is unknown whether the object was written: {error}") from problem

    def _delete_one(self, name: str) -> None:
        with suppress(MissingObject):
            self._run(name, lambda client: client.delete_object(**self._target(name)))

    def _pages(self, prefix: str, options: dict[str, str]) -> Iterator[dict[str, Any]]:
        """Yield the pages of a listing."""
        while True:
            page = self._run(prefix, lambda client: client.list_objects_v2(**options))
            yield page
            if not page.get("IsTruncated"):
                return
            token = page.get("NextContinuationToken")
            if token in (None, options.get("ContinuationToken")):
                what = "the same token twice" if token else "no token for the rest"
                raise StoreError(
                    f"{prefix or 'all objects'} in {self.location}: the server cut the listing off, and gave {what}: "
                    "update the server, or the proxy before it"
                )
            options["ContinuationToken"] = token

    def _listed(self, entry: dict[str, Any]) -> Listed:
        modified, etag = entry["LastModified"].timestamp(), entry["ETag"].strip('"')
        return Listed(self._relative(entry["Key"]), entry["Size"], modified, etag)

    def _relative(self, key: str) -> str:
        return key[len(self._prefix) :]

    def _target(self, name: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._prefix + name}

    def _run(self, name: str, request: Callable[[Any], _Result]) -> _Result:
        """Return the result of a request. Repeat it if its answer is torn."""
        for pause in _pauses(self._attempts):
            try:
                with translated_errors(self.location, name):
                    return self._s3.run(request)
            except StoreError as error:
                if not isinstance(error.__cause__, _TORN):
                    raise
                problem = error
            time.sleep(pause)
        raise problem


def _head(response: dict[str, Any]) -> Digest:
    """Return the head in a response. It has the SHA-256 that the writer recorded, or that S3 computed, or ''."""
    if "ContentLength" not in response:
        raise ValueError("a response without length")
    computed = response.get("ChecksumSHA256", "")
    with suppress(ValueError):
        computed = b64decode(computed, validate=True).hex()
    sha256 = response.get("Metadata", {}).get("sha256", computed)
    etag = response.get("ETag", "").strip('"')
    return Digest(response["ContentLength"], sha256 if _SHA256.fullmatch(sha256) else "", etag)


def _pauses(attempts: int) -> Iterator[float]:
    """Yield the seconds to wait after each attempt: random, so that clients do not retry in step, and growing."""
    for attempt in range(attempts):
        yield random.uniform(0, _FIRST_PAUSE_SECONDS * 2**attempt) if attempt < attempts - 1 else 0


@contextmanager
def _named(verb: str) -> Iterator[None]:
    """Name the request of the trial that failed."""
    try:
        yield
    except StoreError as error:
        raise type(error)(f"trial of {verb}: {error}") from error.__cause__


def open_s3(location: str, timeout_seconds: float | None, swaps: bool) -> S3Store:
    """Open a store in a bucket for a caller that waits so long in all: enough for two attempts."""
    seconds = timeout_seconds
    return S3Store(location, BATCH_TIMEOUTS if seconds is None else Timeouts(2, seconds / 5, seconds * 2 / 5), swaps)
