"""A prefix of an S3 bucket: its client, its requests, and its errors in our words. Stores and lakes stand on it.

Credentials, region and endpoint are found by boto3's ordinary means (environment, profile, role). What S3 servers
do differently is dealt with here; docs/decisions/object-storage.md says what and why.
"""

import base64
import hashlib
import io
import random
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config

from edge_auth.contract.store.s3_errors import FAILURES, TORN, in_one_line, is_final, translated
from edge_auth.errors import MissingObject, StoreError

CONNECTIONS = 32
PART_BYTES = 16 << 20
# Larger objects go up in parts, several at a time.
MULTIPART_BYTES = 64 << 20
_WRITE_TRIES = 3
_DELETE_MANY = 1000
_SHA256 = re.compile("[0-9a-f]{64}")
_LOCATION = re.compile(r"s3://([^/]+)/*(.*?)/*")


class Patience(NamedTuple):
    """How long to wait for a server: attempts per request, seconds to connect and between bytes."""

    attempts: int
    connect: float
    read: float


# A batch run would rather wait than fail; a request of the API would rather fail than wait.
PATIENT = Patience(5, 5, 60)


def hurried(seconds: float) -> Patience:
    """The patience of those for whom an answer after so many seconds is none: a lost one can be asked for once more."""
    return Patience(2, seconds / 5, seconds * 2 / 5)


class Head(NamedTuple):
    """What is known of an object: `sha256` and `nonce` are what its writer noted, or ''."""

    size: int
    etag: str
    sha256: str
    nonce: str


class Bucket:
    """The objects below `s3://bucket/prefix`, by their names relative to it.

    Raises:
        StoreError: the location is none. From every method: the server failed or refused.
    """

    def __init__(self, location: str, patience: Patience = PATIENT):
        found = _LOCATION.fullmatch(location)
        if not found:
            raise StoreError(f"{location} is no place in a bucket: write s3://bucket/prefix")
        self.name = found.group(1)
        self.prefix = found.group(2) + "/" if found.group(2) else ""
        self.location = f"s3://{self.name}/{self.prefix}".rstrip("/")
        self._patience = patience

    @cached_property
    def client(self) -> Any:
        """TaskOutput when first used, and so by the process that uses it."""
        with self._translated(""):
            session = boto3.session.Session()
            client = self._client(session)
            host = urlsplit(client.meta.endpoint_url).hostname or ""
            if host.endswith((".amazonaws.com", ".amazonaws.com.cn")):
                return client
            # Servers that are not AWS: many know neither checksums in trailers nor buckets as host names.
            style = (client.meta.config.s3 or {}).get("addressing_style", "path")
            return self._client(
                session,
                s3={"addressing_style": style},
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            )

    def get(self, name: str, first: int = 0, length: int | None = None, etag: str | None = None) -> tuple[bytes, Head]:
        """The bytes of an object, or a range of them, and what is known of it; read again where a read was torn.

        Args:
            etag: refuse any other version than this one.

        Raises:
            MissingObject: there is no such object.
            Conflict: it has another ETag.
            StoreError: it is shorter than the range, or is not what its writer noted.
        """
        asked = {"IfMatch": etag} if etag else {}
        if first or length is not None:
            asked["Range"] = f"bytes={first}-{'' if length is None else first + length - 1}"
        problem = ""
        for pause in _pauses(self._patience.attempts):
            with self._translated(name):
                answer = self.client.get_object(Bucket=self.name, Key=self.prefix + name, **asked)
            try:
                head, data = _head(answer), answer["Body"].read()
            except FAILURES as error:
                problem = in_one_line(error)
            else:
                problem = _torn(data, head, answer.get("ContentRange"), first, length)
                if not problem:
                    return data, head
            time.sleep(pause)
        raise StoreError(f"{name} in {self.location}: {problem}")

    def head(self, name: str) -> Head | None:
        """What is known of an object, or None where it does not exist."""
        where = {"Bucket": self.name, "Key": self.prefix + name}
        try:
            return self._tried(name, lambda: _head(self.client.head_object(**where, ChecksumMode="ENABLED")))
        except MissingObject:
            pass
        # A HEAD has no body that could say what is missing, the object or the whole bucket.
        try:
            with self._translated(name):
                answer = self.client.get_object(**where)
                answer["Body"].close()
                return _head(answer)
        except MissingObject:
            return None

    def put(self, name: str, data: bytes, nonce: str = "", **condition: str) -> None:
        """Write an object whole, its SHA-256 noted beside it."""
        with self._translated(name):
            self._put(name, data, nonce, condition)

    def put_if(self, name: str, data: bytes, **condition: str) -> bool:
        """Write an object if a condition holds (IfNoneMatch="*" or IfMatch=etag); tells whether it was written.

        Whatever goes wrong on the way, the object itself decides: it carries the nonce of who wrote it.
        """
        nonce = secrets.token_hex(8)
        for pause in _pauses(_WRITE_TRIES):
            try:
                with self._translated(name):
                    self._put(name, data, nonce, condition)
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

    def list(self, prefix: str = "", **more: Any) -> Iterator[dict]:
        """The objects whose names begin with `prefix`, as listings show them, under their relative `Key`."""
        asked = {"Bucket": self.name, "Prefix": self.prefix + prefix, **more}
        while True:
            page = self._tried(prefix, lambda: self.client.list_objects_v2(**asked))
            for entry in page.get("Contents", ()):
                yield entry | {"Key": entry["Key"][len(self.prefix) :]}
            if not page.get("IsTruncated"):
                return
            asked["ContinuationToken"] = page["NextContinuationToken"]

    def delete(self, names: Sequence[str]) -> None:
        """Delete objects; those already gone are no error."""
        for start in range(0, len(names), _DELETE_MANY):
            listed = [{"Key": self.prefix + name} for name in names[start : start + _DELETE_MANY]]
            with self._translated(names[start]):
                answer = self.client.delete_objects(Bucket=self.name, Delete={"Objects": listed, "Quiet": True})
            for error in answer.get("Errors", ()):
                raise StoreError(f"{error.get('Key')} in {self.location} cannot be deleted: {error.get('Code')}")

    def _client(self, session: boto3.session.Session, **more: Any) -> Any:
        return session.client(
            "s3",
            config=Config(
                max_pool_connections=CONNECTIONS,
                connect_timeout=self._patience.connect,
                read_timeout=self._patience.read,
                retries={"mode": "standard", "total_max_attempts": self._patience.attempts},
                tcp_keepalive=True,
                user_agent_extra="cardpress",
                **more,
            ),
        )

    def _put(self, name: str, data: bytes, nonce: str, condition: dict[str, str]) -> None:
        noted = {"sha256": hashlib.sha256(data).hexdigest()} | ({"nonce": nonce} if nonce else {})
        where = {"Bucket": self.name, "Key": self.prefix + name}
        if len(data) > MULTIPART_BYTES and not condition:
            parts = TransferConfig(multipart_threshold=MULTIPART_BYTES, multipart_chunksize=PART_BYTES)
            extra = {"Metadata": noted}
            self.client.upload_fileobj(io.BytesIO(data), **where, ExtraArgs=extra, Config=parts)
            return
        md5 = base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
        self.client.put_object(**where, Body=data, ContentMD5=md5, Metadata=noted, **condition)

    def _head_after(self, problem: StoreError, name: str) -> Head | None:
        try:
            return self.head(name)
        except StoreError as error:
            raise StoreError(f"{problem}; whether it was written is not known: {error}") from problem

    def _tried(self, name: str, request: Callable[[], Any]) -> Any:
        """What a request gives; asked again where its answer came torn, which boto3 takes for an answer."""
        problem = StoreError()
        for pause in _pauses(self._patience.attempts):
            try:
                with self._translated(name):
                    return request()
            except StoreError as error:
                if not isinstance(error.__cause__, TORN):
                    raise
                problem = error
            time.sleep(pause)
        raise problem

    def _translated(self, name: str) -> AbstractContextManager[None]:
        return translated(self.location, name)


def _head(answer: dict) -> Head:
    """Raises ValueError where the answer's own head was torn, which HTTP cannot tell."""
    if "ContentLength" not in answer or "ETag" not in answer:
        raise ValueError("an answer without its length or tag")
    # Some servers give names of metadata back capitalised.
    noted = {name.lower(): value for name, value in answer.get("Metadata", {}).items()}
    etag = answer["ETag"].strip('"')  # Ceph compares the bare header, so it is never sent with its quotes
    return Head(answer["ContentLength"], etag, _sha256(answer, noted), noted.get("nonce", ""))


def _sha256(answer: dict, noted: dict[str, str]) -> str:
    """The SHA-256 that an object's writer noted or had S3 compute; that of an upload in parts is none of the whole."""
    computed = answer.get("ChecksumSHA256", "")
    with suppress(ValueError):
        computed = base64.b64decode(computed, validate=True).hex()
    sha256 = noted.get("sha256", computed)
    return sha256 if _SHA256.fullmatch(sha256) else ""


def _torn(data: bytes, head: Head, answered: str | None, first: int, length: int | None) -> str:
    """What is wrong with the bytes that came, or ''."""
    if not first and length is None:
        wrong = head.sha256 and hashlib.sha256(data).hexdigest() != head.sha256
        return "is not what was written" if wrong else ""
    if not (answered or "").startswith(f"bytes {first}-"):
        return f"asked for bytes from {first}, got {answered or 'all of them'}"
    if length is not None and len(data) != length:
        return f"ends at {first + len(data)}, expected {first + length} bytes"
    return ""


def _pauses(times: int) -> Iterator[float]:
    """Seconds to wait after each of several tries: longer each time, and different for each of those who wait."""
    for attempt in range(times):
        yield random.uniform(0, 0.1 * 2**attempt) if attempt < times - 1 else 0
