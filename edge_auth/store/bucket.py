"""Requests to a prefix of an S3 bucket. Stores and lakes in buckets use it.

boto3 finds credentials, region and endpoint in its usual places (environment, profile, role). This module also covers
the differences between S3 servers; docs/decisions/store.md lists them with the reasons.
"""

import base64
import hashlib
import io
import random
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config

from edge_auth.errors import MissingObject, StoreError
from edge_auth.store.s3_errors import FAILURES, INCOMPLETE, in_one_line, is_final, translated_errors

MAX_CONNECTIONS = 32
# Larger objects are uploaded in chunks, several at a time.
MULTIPART_THRESHOLD_BYTES = 64 << 20
_MULTIPART_CHUNK_BYTES = 16 << 20
_MAX_WRITE_ATTEMPTS = 3
_MAX_DELETED_PER_REQUEST = 1000
_FIRST_PAUSE_SECONDS = 0.1
_SHA256 = re.compile("[0-9a-f]{64}")
_SCHEME = "s3://"
_LOCATION = re.compile(rf"{_SCHEME}([^/]+)/*(.*?)/*")


class Timeouts(NamedTuple):
    """How long to wait for a server.

    Attributes:
        attempts: Attempts per request.
        connect_seconds: Time to connect.
        read_seconds: Time between two reads of a response.
    """

    attempts: int
    connect_seconds: float
    read_seconds: float


# A batch run prefers waiting to failing. A request of the API prefers failing to waiting.
BATCH_TIMEOUTS = Timeouts(5, 5, 60)


def request_timeouts(seconds: float) -> Timeouts:
    """Return timeouts for a caller that waits `seconds` in all: enough for two attempts."""
    return Timeouts(2, seconds / 5, seconds * 2 / 5)


class Head(NamedTuple):
    """The properties of an object without its bytes; `sha256` and `nonce` are those that its writer recorded, or ''."""

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
        self._timeouts = timeouts

    @cached_property
    def client(self) -> Any:
        """The boto3 client. Each process creates its own, at the first use."""
        with self._translated_errors(""):
            session = boto3.session.Session()
            client = self._client(session)
            host = urlsplit(client.meta.endpoint_url).hostname or ""
            if host.endswith((".amazonaws.com", ".amazonaws.com.cn")):
                return client
            # Many servers other than AWS support neither checksums in trailers nor buckets as host names.
            style = (client.meta.config.s3 or {}).get("addressing_style", "path")
            return self._client(
                session,
                s3={"addressing_style": style},
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            )

    def get(self, name: str, first: int = 0, length: int | None = None, etag: str | None = None) -> tuple[bytes, Head]:
        """Return an object or a range of it, and its head. Incomplete reads are repeated.

        Args:
            first: Offset of the range in bytes.
            etag: Read this version only.

        Raises:
            MissingObject: There is no such object.
            Conflict: The object has another ETag.
            StoreError: The object is shorter than the range, or does not match its recorded hash.
        """
        options = {"IfMatch": etag} if etag else {}
        if first or length is not None:
            options["Range"] = f"bytes={first}-{'' if length is None else first + length - 1}"
        problem = ""
        for pause in _pauses(self._timeouts.attempts):
            with self._translated_errors(name):
                response = self.client.get_object(Bucket=self.name, Key=self.prefix + name, **options)
            try:
                head, data = _head(response), response["Body"].read()
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
        target = {"Bucket": self.name, "Key": self.prefix + name}
        try:
            found: Head = self._retry(name, lambda: _head(self.client.head_object(**target, ChecksumMode="ENABLED")))
            return found
        except MissingObject:
            pass
        # A response to HEAD has no body, so it does not tell whether the object or the bucket is missing.
        try:
            with self._translated_errors(name):
                response = self.client.get_object(**target)
                response["Body"].close()
                return _head(response)
        except MissingObject:
            return None

    def put(self, name: str, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Create or replace an object, and record its SHA-256 in its metadata."""
        if len(data) <= MULTIPART_THRESHOLD_BYTES:
            with self._translated_errors(name):
                self._put(name, data, headers or {})
            return
        extra = {"Metadata": {"sha256": hashlib.sha256(data).hexdigest()}, **(headers or {})}
        config = TransferConfig(
            multipart_threshold=MULTIPART_THRESHOLD_BYTES, multipart_chunksize=_MULTIPART_CHUNK_BYTES
        )
        with self._translated_errors(name):
            target = {"Bucket": self.name, "Key": self.prefix + name}
            self.client.upload_fileobj(io.BytesIO(data), **target, ExtraArgs=extra, Config=config)

    def put_if(self, name: str, data: bytes, **condition: str) -> bool:
        """Write an object if a condition (IfNoneMatch="*" or IfMatch=etag) holds. Return whether it was written.

        The object carries a nonce of this call. If the answer to a request is lost, the nonce in the object's head
        shows whether the request succeeded.

        Raises:
            StoreError: The request failed. The message says if it is unknown whether the object was written.
        """
        nonce = secrets.token_hex(8)
        for pause in _pauses(_MAX_WRITE_ATTEMPTS):
            try:
                with self._translated_errors(name):
                    self._put(name, data, condition, nonce)
                return True
            except StoreError as error:
                if is_final(error):
                    raise
                problem = error
            found = self._head_after(problem, name)
            if found and found.nonce == nonce:
                return True
            if condition.get("IfMatch") != (found.etag if found else None):
                return False
            time.sleep(pause)
        raise problem

    def list(self, prefix: str = "", **more: Any) -> Iterator[dict[str, Any]]:
        """Yield boto3's listing entries of the objects whose names begin with `prefix`, with relative `Key`.

        With a `Delimiter`, the prefixes that end in it are entries that have a `Key` alone.
        """
        options = {"Bucket": self.name, "Prefix": self.prefix + prefix, **more}
        while True:
            page = self._retry(prefix, lambda: self.client.list_objects_v2(**options))
            folders = ({"Key": entry["Prefix"]} for entry in page.get("CommonPrefixes", ()))
            for entry in (*page.get("Contents", ()), *folders):
                yield entry | {"Key": entry["Key"][len(self.prefix) :]}
            if not page.get("IsTruncated"):
                return
            options["ContinuationToken"] = page["NextContinuationToken"]

    def delete(self, names: Sequence[str]) -> None:
        """Delete objects. Names that do not exist are ignored.

        Raises:
            StoreError: An object cannot be deleted.
        """
        for start in range(0, len(names), _MAX_DELETED_PER_REQUEST):
            keys = [{"Key": self.prefix + name} for name in names[start : start + _MAX_DELETED_PER_REQUEST]]
            with self._translated_errors(names[start]):
                response = self.client.delete_objects(Bucket=self.name, Delete={"Objects": keys, "Quiet": True})
            for error in response.get("Errors", ()):
                raise StoreError(f"{error.get('Key')} in {self.location} cannot be deleted: {error.get('Code')}")

    def _client(self, session: boto3.session.Session, **more: Any) -> Any:
        return session.client(
            "s3",
            config=Config(
                max_pool_connections=MAX_CONNECTIONS,
                connect_timeout=self._timeouts.connect_seconds,
                read_timeout=self._timeouts.read_seconds,
                retries={"mode": "standard", "total_max_attempts": self._timeouts.attempts},
                tcp_keepalive=True,
                user_agent_extra="cardpress",
                **more,
            ),
        )

    def _put(self, name: str, data: bytes, headers: Mapping[str, str], nonce: str = "") -> None:
        metadata = {"sha256": hashlib.sha256(data).hexdigest()} | ({"nonce": nonce} if nonce else {})
        md5 = base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
        target = {"Bucket": self.name, "Key": self.prefix + name}
        self.client.put_object(**target, Body=data, ContentMD5=md5, Metadata=metadata, **headers)

    def _head_after(self, problem: StoreError, name: str) -> Head | None:
        try:
            return self.head(name)
        except StoreError as error:
            raise StoreError(f"{problem}; it is unknown whether the object was written: {error}") from problem

    def _retry(self, name: str, request: Callable[[], Any]) -> Any:
        """Return the result of a request. Repeat it if the response is incomplete, which boto3 does not notice."""
        problem = StoreError()
        for pause in _pauses(self._timeouts.attempts):
            try:
                with self._translated_errors(name):
                    return request()
            except StoreError as error:
                if not isinstance(error.__cause__, INCOMPLETE):
                    raise
                problem = error
            time.sleep(pause)
        raise problem

    def _translated_errors(self, name: str) -> AbstractContextManager[None]:
        return translated_errors(self.location, name)


def plain_etag(etag: str) -> str:
    """Return an ETag without quotes: Ceph compares ETags without them."""
    return etag.strip('"')


def _head(response: dict[str, Any]) -> Head:
    """Return the head in a response.

    Raises:
        ValueError: The response's headers are incomplete.
    """
    if "ContentLength" not in response or "ETag" not in response:
        raise ValueError("a response without length or ETag")
    # Some servers capitalise the names of metadata.
    metadata = {name.lower(): value for name, value in response.get("Metadata", {}).items()}
    etag = plain_etag(response["ETag"])
    return Head(response["ContentLength"], etag, _sha256(response, metadata), metadata.get("nonce", ""))


def _sha256(response: dict[str, Any], metadata: dict[str, str]) -> str:
    """Return the SHA-256 that the writer recorded or S3 computed, or ''. A multipart checksum is not a SHA-256."""
    computed = response.get("ChecksumSHA256", "")
    with suppress(ValueError):
        computed = base64.b64decode(computed, validate=True).hex()
    sha256: str = metadata.get("sha256", computed)
    return sha256 if _SHA256.fullmatch(sha256) else ""


def _read_problem(data: bytes, head: Head, content_range: str | None, first: int, length: int | None) -> str:
    """Return what is wrong with the bytes of a response, or ''."""
    if not first and length is None:
        damaged = head.sha256 and hashlib.sha256(data).hexdigest() != head.sha256
        return "the content does not match its hash" if damaged else ""
    if not (content_range or "").startswith(f"bytes {first}-"):
        return f"requested bytes from {first}, got {content_range or 'the whole object'}"
    if length is not None and len(data) != length:
        return f"ends at {first + len(data)}, expected {first + length} bytes"
    return ""


def _pauses(attempts: int) -> Iterator[float]:
    """Yield the seconds to wait after each attempt: random, so that clients do not retry in step, and growing."""
    for attempt in range(attempts):
        yield random.uniform(0, _FIRST_PAUSE_SECONDS * 2**attempt) if attempt < attempts - 1 else 0
