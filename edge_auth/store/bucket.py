"""Requests to a prefix of an S3 bucket. Stores, lakes and trees in buckets use it.

boto3 finds credentials, region and endpoint in its usual places (environment, profile, role). This module also covers
the differences between S3 servers; docs/decisions/store.md lists them with the reasons.
"""

import hashlib
import io
import random
import re
import secrets
import time
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from typing import Any, NamedTuple, TypeVar

from boto3.s3.transfer import TransferConfig

from edge_auth.errors import AccessDenied, MissingObject, StoreError
from edge_auth.store.interface import check_size
from edge_auth.store.s3_client import Dialect, S3Client, Timeouts, content_md5
from edge_auth.store.s3_errors import (
    FAILURES,
    INCOMPLETE,
    in_one_line,
    is_final,
    is_refusal,
    may_be_credentials,
    translated_errors,
)

# Larger objects are uploaded in chunks, several at a time.
MULTIPART_THRESHOLD_BYTES = 64 << 20
_MULTIPART_CHUNK_BYTES = 16 << 20
_MAX_WRITE_ATTEMPTS = 3
_MAX_DELETED_PER_REQUEST = 1000
_DELETE_THREADS = 8
_FIRST_PAUSE_SECONDS = 0.1
_SHA256 = re.compile("[0-9a-f]{64}")
_SCHEME = "s3://"
_LOCATION = re.compile(rf"{_SCHEME}([^/]+)/*(.*?)/*")

# A batch run prefers waiting to failing. A request of the API prefers failing to waiting.
BATCH_TIMEOUTS = Timeouts(5, 5, 60)

_Result = TypeVar("_Result")


def request_timeouts(seconds: float) -> Timeouts:
    """Return timeouts for a caller that waits `seconds` in all: enough for two attempts."""
    return Timeouts(2, seconds / 5, seconds * 2 / 5)


class Head(NamedTuple):
    """The properties of an object without its bytes; '' for what its writer did not record."""

    size: int
    etag: str
    sha256: str
    nonce: str


class Bucket:
    """The objects below `s3://bucket/prefix`. Their names are relative to the prefix.

    Raises:
        StoreError: The location is malformed. Every method raises it if the server fails or denies the request.
    """

    def __init__(self, location: str, timeouts: Timeouts = BATCH_TIMEOUTS):
        found = _LOCATION.fullmatch(location)
        if not found:
            raise StoreError(f"{location} is not a location in a bucket: write {_SCHEME}bucket/prefix")
        self.name = found.group(1)
        self.prefix = found.group(2) + "/" if found.group(2) else ""
        self.location = f"{_SCHEME}{self.name}/{self.prefix}".rstrip("/")
        self._s3 = S3Client(self.name, timeouts)
        self._timeouts = timeouts

    @property
    def dialect(self) -> Dialect:
        """The forms of requests that the server takes, as far as they are known."""
        with self._translated_errors(""):
            return self._s3.dialect

    @property
    def client(self) -> Any:
        """The boto3 client."""
        with self._translated_errors(""):
            return self._s3.client

    def get(
        self, name: str, first: int = 0, length: int | None = None, unless: str = "", most: int | None = None
    ) -> tuple[bytes, Head]:
        """Return an object or a range of it, and its head. Incomplete reads are repeated.

        Args:
            first: Offset of the range in bytes.
            unless: The ETag of what the caller knows. If the object has it, `is_unchanged` tells so of the error.
            most: How many bytes the object may have.

        Raises:
            MissingObject: There is no such object.
            StoreError: The object is shorter than the range, or does not match its recorded hash.
        """
        options = self._target(name) | ({"IfNoneMatch": f'"{unless}"'} if unless else {})
        if first or length is not None:
            options["Range"] = f"bytes={first}-{'' if length is None else first + length - 1}"
        problem = ""
        for pause in _pauses(self._timeouts.attempts):
            with self._translated_errors(name):
                response = self._s3.run(lambda client: client.get_object(**options))
            try:
                head = _head(response)
                if most is not None and head.size > most:
                    response["Body"].close()
                check_size(name, self.location, head.size, most)
                data = response["Body"].read()
            except FAILURES as error:
                problem = in_one_line(error)
            else:
                problem = _read_problem(data, head, response.get("ContentRange"), first, length)
                if not problem:
                    return data, head
            time.sleep(pause)
        raise StoreError(f"{name} in {self.location}: {problem}")

    def head(self, name: str) -> Head | None:
        """Return the head of an object, or None if it does not exist."""
        target = self._target(name)
        try:
            return self._retry(name, lambda client: _head(client.head_object(**target, ChecksumMode="ENABLED")))
        except MissingObject:
            pass
        except StoreError as error:
            if not is_refusal(error) and not may_be_credentials(error):
                raise
        # A response to HEAD has no body, so it tells neither whether the object or the bucket is missing, nor a code.
        try:
            with self._translated_errors(name):
                response = self._s3.run(lambda client: client.get_object(**target))
                response["Body"].close()
                return _head(response)
        except MissingObject:
            return None

    def put(self, name: str, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Create or replace an object, and record its SHA-256 in its metadata."""
        if len(data) > MULTIPART_THRESHOLD_BYTES:
            self._upload(name, data, headers or {})
        else:
            self._put(name, data, headers or {})

    def put_if(self, name: str, data: bytes, etag: str | None) -> bool:
        """Write an object if it still has an ETag; with None, if there is none. Return whether it was written.

        The object carries a nonce of this call. If the answer to a request is lost, the nonce in the object's head
        shows whether the request succeeded.

        Raises:
            StoreError: The request failed. The message says if it is unknown whether the object was written.
        """
        nonce = secrets.token_hex(8)
        quote = '"' if self.dialect.quotes else ""  # Ceph compares ETags without quotes, other servers with them
        condition = {"IfNoneMatch": "*"} if etag is None else {"IfMatch": f"{quote}{etag}{quote}"}
        for pause in _pauses(_MAX_WRITE_ATTEMPTS):
            try:
                self._put(name, data, condition, nonce)
                return True
            except StoreError as error:
                if is_final(error):
                    raise
                problem = error
            found = self._head_after(problem, name)
            if found and found.nonce == nonce:
                return True
            if etag != (found.etag if found else None):
                return False
            time.sleep(pause)
        raise problem

    def list(self, prefix: str = "", **more: Any) -> Iterator[dict[str, Any]]:
        """Yield boto3's listing entries of the objects whose names begin with `prefix`, with relative `Key`.

        With a `Delimiter`, the prefixes that end in it are entries that have a `Key` alone.

        Raises:
            StoreError: The server fails, or its listing has no end.
        """
        options = {"Bucket": self.name, "Prefix": self.prefix + prefix, **more}
        tokens: set[str] = set()
        while True:
            page = self._page(prefix, options)
            token = page.get("NextContinuationToken")
            folders = ({"Key": entry["Prefix"]} for entry in page.get("CommonPrefixes", ()))
            for entry in (*page.get("Contents", ()), *folders):
                yield entry | {"Key": entry["Key"][len(self.prefix) :]}
            if not page.get("IsTruncated"):
                return
            if not token or token in tokens:
                what = "the same token twice" if token else "no token for the rest"
                raise StoreError(
                    f"{prefix or 'all objects'} in {self.location}: the server cut the listing off, and gave {what}: "
                    "update the server, or the proxy before it"
                )
            tokens.add(token)
            options |= {"ContinuationToken": token}

    def delete(self, names: Sequence[str]) -> None:
        """Delete objects. Names that do not exist are ignored.

        Raises:
            StoreError: An object cannot be deleted.
        """
        if len(names) == 1:
            self._delete_one(names[0])
            return
        for start in range(0, len(names), _MAX_DELETED_PER_REQUEST):
            some = names[start : start + _MAX_DELETED_PER_REQUEST]
            try:
                if self.dialect.batches:
                    self._delete_together(some)
                    continue
            except StoreError as error:  # Ceph asks for a right on the bucket, which a policy may lack
                if not is_refusal(error) and not isinstance(error, AccessDenied):
                    raise
            self._delete_each(some)
            self.dialect.batches = False

    def _page(self, prefix: str, options: dict[str, Any]) -> dict[str, Any]:
        return self._retry(prefix, lambda client: client.list_objects_v2(**options))

    def _delete_together(self, names: Sequence[str]) -> None:
        keys = [{"Key": self.prefix + name} for name in names]
        batch = {"Objects": keys, "Quiet": True}
        with self._translated_errors(names[0]):
            response = self._s3.run(lambda client: client.delete_objects(Bucket=self.name, Delete=batch))
        # An answer may be 200 and name objects that were not deleted. The request for one object says why.
        failed = {entry.get("Key", "")[len(self.prefix) :] for entry in response.get("Errors", ())}
        self._delete_each([name for name in names if name in failed])

    def _delete_each(self, names: Sequence[str]) -> None:
        with ThreadPoolExecutor(_DELETE_THREADS) as pool:
            for _ in pool.map(self._delete_one, names):
                pass

    def _delete_one(self, name: str) -> None:
        with suppress(MissingObject), self._translated_errors(name):
            self._s3.run(lambda client: client.delete_object(**self._target(name)))

    def _upload(self, name: str, data: bytes, headers: Mapping[str, str]) -> None:
        extra = {"Metadata": {"sha256": hashlib.sha256(data).hexdigest()}, **headers}
        config = TransferConfig(
            multipart_threshold=MULTIPART_THRESHOLD_BYTES, multipart_chunksize=_MULTIPART_CHUNK_BYTES
        )
        with self._translated_errors(name):
            self._s3.run(
                lambda client: client.upload_fileobj(
                    io.BytesIO(data), **self._target(name), ExtraArgs=extra, Config=config
                )
            )

    def _put(self, name: str, data: bytes, headers: Mapping[str, str], nonce: str = "") -> None:
        metadata = {"sha256": hashlib.sha256(data).hexdigest()} | ({"nonce": nonce} if nonce else {})

        options = self._target(name) | {"Body": data, "Metadata": metadata, "ContentMD5": content_md5(data), **headers}
        with self._translated_errors(name):
            self._s3.run(lambda client: client.put_object(**options))

    def _target(self, name: str) -> dict[str, Any]:
        return {"Bucket": self.name, "Key": self.prefix + name}

    def _head_after(self, problem: StoreError, name: str) -> Head | None:
        try:
            return self.head(name)
        except StoreError as error:
            raise StoreError(f"{problem}; it is unknown whether the object was written: {error}") from problem

    def _retry(self, name: str, request: Callable[[Any], _Result]) -> _Result:
        """Return the result of a request. Repeat it if the response is incomplete, which boto3 does not notice."""
        problem = StoreError()
        for pause in _pauses(self._timeouts.attempts):
            try:
                with self._translated_errors(name):
                    return self._s3.run(request)
            except StoreError as error:
                if not isinstance(error.__cause__, INCOMPLETE):
                    raise
                problem = error
            time.sleep(pause)
        raise problem

    def _translated_errors(self, name: str) -> AbstractContextManager[None]:
        return translated_errors(self.location, name)


def plain_etag(etag: str) -> str:
    """Return an ETag without quotes."""
    return etag.strip('"')


def _head(response: dict[str, Any]) -> Head:
    """Return the head in a response.

    Raises:
        ValueError: The response's headers are incomplete.
    """
    if "ContentLength" not in response:
        raise ValueError("a response without length")
    # Some servers capitalise the names of metadata.
    metadata = {name.lower(): value for name, value in response.get("Metadata", {}).items()}
    etag = plain_etag(response.get("ETag", ""))
    return Head(response["ContentLength"], etag, _sha256(response, metadata), metadata.get("nonce", ""))


def _sha256(response: dict[str, Any], metadata: dict[str, str]) -> str:
    """Return the SHA-256 that the writer recorded or S3 computed, or ''. A multipart checksum is not a SHA-256."""
    computed = response.get("ChecksumSHA256", "")
    with suppress(ValueError):
        computed = b64decode(computed, validate=True).hex()
    sha256: str = metadata.get("sha256", computed)
    return sha256 if _SHA256.fullmatch(sha256) else ""


def _read_problem(data: bytes, head: Head, content_range: str | None, first: int, length: int | None) -> str:
    """Return what is wrong with the bytes of a response, or ''."""
    if not first and length is None:
        damaged = head.sha256 and hashlib.sha256(data).hexdigest() != head.sha256
        return "the content does not match its hash" if damaged else ""
    if not (content_range or "").startswith(f"bytes {first}-"):
        return f"requested bytes from {first}, got {content_range or 'the whole object'}"
    return _length_problem(data, first, length)


def _length_problem(data: bytes, first: int, length: int | None) -> str:
    if length is not None and len(data) != length:
        return f"ends at {first + len(data)}, expected {first + length} bytes"
    return ""


def _pauses(attempts: int) -> Iterator[float]:
    """Yield the seconds to wait after each attempt: random, so that clients do not retry in step, and growing."""
    for attempt in range(attempts):
        yield random.uniform(0, _FIRST_PAUSE_SECONDS * 2**attempt) if attempt < attempts - 1 else 0
