"""A store in an S3 bucket. `open` imports this module only for such stores, since boto3 is slow to import.

boto3 finds credentials, region and endpoint in its usual places (environment, profile, role).
docs/decisions/store.md lists what differs between S3 servers. A denied request never means "not found": only NoSuchKey,
or 404 to a HEAD request, means that an object does not exist.
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
from math import inf
from threading import Lock
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, IncompleteReadError, ResponseStreamingError
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError

from generator.storage.errors import AccessDenied, Conflict, MissingObject, StoreError, Throttled
from generator.storage.stores.interface import MAX_DOCUMENT_BYTES, PRIVATE, Digest, Listed, Store, Versioned, check_size
from generator.storage.stores.remedies import REMEDIES, with_remedy

_LOCATION = re.compile("s3://([^/]+)/*(.*?)/*")
_SHA256 = re.compile("[0-9a-f]{64}")
_PASSWORD = re.compile(r"://[^\s\"']*@")  # in an endpoint, which boto3's messages repeat; it may hold a slash
_MAX_CONNECTIONS = 32
_MAX_WRITE_ATTEMPTS = 3
_DELETE_THREADS = 8
_FIRST_PAUSE_SECONDS = 0.1
_SECONDS_BETWEEN_SESSIONS = 2.0
_FAILURES = (BotoCoreError, ResponseParserError, HTTPError, OSError, ValueError)
# What boto3 does not send again: an answer that broke off, or bytes that are not those that were written.
_TORN = (IncompleteReadError, ResponseStreamingError, ResponseParserError, ValueError)
# Statuses of a conditional write that lost against another writer, or against an earlier attempt of this process whose
# answer was lost.
_CONFLICT_STATUSES = (404, 409, 412)
_DENIED_CODES = ("AccessDenied", "AllAccessDisabled", "Forbidden", "403", "")
_PROBED = b"probe"
_PROBE_LOCK = Lock()
# By the endpoint and the location that this process has tried: what stands around an ETag in a condition. Ceph compares
# it without quotes, R2 takes it with quotes alone, other servers do both.
_QUOTES: dict[tuple[str, str], str] = {}

_Result = TypeVar("_Result")


class S3Client:
    """A boto3 client, made at the first request, and made anew when the credentials were rotated.

    A caller waits `timeout_seconds` in all: enough for two attempts. None, a batch run, prefers waiting to failing.
    """

    def __init__(self, timeout_seconds: float | None):
        self.attempts = 5 if timeout_seconds is None else 2  # per request
        self._config = Config(
            max_pool_connections=_MAX_CONNECTIONS,
            connect_timeout=5 if timeout_seconds is None else timeout_seconds / 5,
            read_timeout=60 if timeout_seconds is None else timeout_seconds * 2 / 5,  # between two reads of a response
            retries={"mode": "standard", "total_max_attempts": self.attempts},
            tcp_keepalive=True,
            user_agent_extra="cardpress",
            # Ceph refuses checksums behind a body, and other servers store them in it. Uploads have an MD5.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        self._lock = Lock()
        self._client: Any = None
        self._made = -inf

    @property
    def client(self) -> Any:
        """The boto3 client. Each process creates its own, at the first use."""
        return self._client or self._newer_than(None)

    def run(self, request: Callable[[Any], _Result]) -> _Result:
        """Return the result of a request. If its credentials are refused, it is sent once more with those of now."""
        client = self.client
        try:
            return request(client)
        except (ClientError, *_FAILURES) as error:
            may_help = _status_of(error) in (400, 401, 403) or type(error).__name__.endswith("CredentialsError")
            if not may_help or (newer := self._newer_than(client)) is client:
                raise
        return request(newer)

    def _newer_than(self, used: Any) -> Any:
        """Return a client that was made after the used one, or that one if it is too early for another."""
        with self._lock:
            if self._client is used and time.monotonic() > self._made + _SECONDS_BETWEEN_SESSIONS:
                self._client = boto3.session.Session().client("s3", config=self._config)
                self._made = time.monotonic()
            return self._client


class S3Store(Store):
    """A store in a bucket. If its user swaps, it tries every request that a store needs before its first write."""

    def __init__(self, location: str, timeout_seconds: float | None = None, swaps: bool = True):
        found = _LOCATION.fullmatch(location)
        if not found:
            raise StoreError(f"{location} is not a location in a bucket: write s3://bucket/prefix")
        self._bucket, self._prefix = found[1], f"{found[2]}/" if found[2] else ""
        self.location = f"s3://{self._bucket}/{self._prefix}".rstrip("/")
        self._s3 = S3Client(timeout_seconds)
        self._swaps, self._quotes = swaps, ""

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        return self._read(name, offset, length).data if length != 0 else self._read(name).data[:0]

    def get_versioned(
        self, name: str, known: Versioned | None = None, most: int | None = MAX_DOCUMENT_BYTES
    ) -> Versioned | None:
        """Return an object with its ETag, or `known` if the server says that it has not changed."""
        try:
            return self._read(name, most=most, unless=known.etag if known is not None else "")
        except MissingObject:
            return None
        except StoreError as error:
            if _status_of(error) != 304:
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
        """Yield what is below a prefix. Raise StoreError if the server cuts the listing off."""
        is_name, start = prefix and not prefix.endswith("/"), len(self._prefix)
        options = {"Bucket": self._bucket, "Prefix": self._prefix + prefix} | ({} if deep else {"Delimiter": "/"})
        while True:
            page = self._run(prefix, lambda client: client.list_objects_v2(**options))
            found = [
                Listed(entry["Key"][start:], entry["Size"], entry["LastModified"].timestamp(), entry["ETag"].strip('"'))
                for entry in page.get("Contents", ())
                if not entry["Key"].endswith("/")
            ]
            found += [Listed(entry["Prefix"][start:], 0, 0) for entry in page.get("CommonPrefixes", ())]
            yield from sorted(entry for entry in found if not is_name or entry.name == prefix)
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
                if [entry.name for entry in self.entries(name)] != [name]:
                    raise StoreError(f"{self.location}: an object that was just written is not listed")
                if PRIVATE not in [child.name for child in self.entries("", deep=False)]:
                    raise StoreError(f"{self.location}: the server ignores the prefix or the delimiter of a listing")
        except StoreError:
            with suppress(StoreError):
                self._delete_one(name)
            raise
        with _named("delete"), suppress(AccessDenied):  # nor delete
            self._delete_one(name)
            if self._head(name) is not None:
                raise StoreError(f"{self.location}: an object is still there after the server answered that it is gone")

    def _try_once(self) -> None:
        with _translated_errors(self.location, ""):
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
            if _status_of(error) != 501:
                raise
        raise StoreError(
            f"{self.location}: this server does not honour conditional writes (If-None-Match, If-Match), "
            "without which two writers could overwrite each other: use one that the page `Where it runs` names"
        )

    def _is_written(self, name: str, data: bytes, etag: str | None) -> bool:
        try:
            self._swap(name, data, etag)
        except StoreError as error:
            if not isinstance(error, Conflict) and _status_of(error) != 400:  # R2 to an ETag without quotes
                raise
            return False
        return True

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
            if not 400 <= _status_of(error) < 500:
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
                status = _status_of(error)
                if (300 <= status < 500 or status == 501) and not isinstance(error, Conflict):
                    raise
                problem = error
            try:
                found = self.get_versioned(name, most=None)
            except StoreError as error:
                unknown = f"{problem}; it is unknown whether the object was written: {error}"
                raise StoreError(unknown) from problem
            if found is not None and found.data == data:
                return
            if etag != (found.etag if found else None):
                raise Conflict(f"another writer has changed {name} in {self.location}: check it, then try again")
            time.sleep(pause)
        raise problem

    def _delete_one(self, name: str) -> None:
        with suppress(MissingObject):
            self._run(name, lambda client: client.delete_object(**self._target(name)))

    def _target(self, name: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._prefix + name}

    def _run(self, name: str, request: Callable[[Any], _Result]) -> _Result:
        """Return the result of a request. Repeat it if its answer is torn."""
        for pause in _pauses(self._s3.attempts):
            try:
                with _translated_errors(self.location, name):
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


@contextmanager
def _translated_errors(location: str, name: str) -> Iterator[None]:
    """Turn the exceptions that boto3 raises in the body into StoreError, MissingObject, AccessDenied or Conflict."""
    try:
        yield
    except ClientError as error:
        raise _translate(location, name, error) from error
    except _FAILURES as error:
        said = _PASSWORD.sub("://…@", " ".join(str(error).split())) or type(error).__name__
        raise StoreError(with_remedy(f"{_where(location, name)}: {said}", error)) from error


def _status_of(error: BaseException | None) -> int:
    """Return the HTTP status of the answer that is, or caused, an error; 0 if there was no answer."""
    answer = error.__cause__ if isinstance(error, StoreError) else error
    return int(answer.response["ResponseMetadata"]["HTTPStatusCode"]) if isinstance(answer, ClientError) else 0


def _translate(location: str, name: str, error: ClientError) -> StoreError:
    code, status, where = str(error.response["Error"].get("Code", "")), _status_of(error), _where(location, name)
    if code == "NoSuchBucket":
        return StoreError(f"{location}: there is no such bucket: {REMEDIES[code]}")
    if status == 412 or (error.operation_name == "PutObject" and status in _CONFLICT_STATUSES):
        return Conflict(f"another writer has changed {where}: check it, then try again")
    if code == "NoSuchKey" or (status == 404 and error.operation_name == "HeadObject"):
        return MissingObject(f"{name} is not in {location}")
    if status == 416:
        return StoreError(f"{where}: the object is shorter than the requested range")
    remedy = REMEDIES.get(code)
    if status == 403 and code in _DENIED_CODES:
        return AccessDenied(f"{where}: access denied ({code or status}): {REMEDIES['AccessDenied']}")
    if remedy and remedy.startswith("check the credentials"):
        return StoreError(f"{where}: access denied ({code}): {remedy}")
    kind = Throttled if status in (429, 503) else StoreError
    text = " ".join(str(error.response["Error"].get("Message", "")).split())
    said = remedy or (text if text != code else "")
    return kind(f"{where}: the server answered {code} ({status}) to {error.operation_name}{': ' * bool(said)}{said}")


def _where(location: str, name: str) -> str:
    return f"{name} in {location}" if name else location
