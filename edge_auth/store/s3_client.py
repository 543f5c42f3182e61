"""The client of a bucket: credentials that are read again when they were rotated, and the forms that a server takes."""

import base64
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from edge_auth.store.s3_errors import EXPIRED_CODES, FAILURES, client_error, code_of, may_be_credentials

MAX_CONNECTIONS = 32
_SECONDS_BETWEEN_SESSIONS = 2.0
_PATIENT_ATTEMPTS = 3  # from this number of attempts on a caller waits for a new token
_TOKEN_PAUSES_SECONDS = (1.0, 2.0, 4.0)

_Result = TypeVar("_Result")


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


@dataclass
class Dialect:
    """What differs between servers, as far as it is known. All threads of a process share it.

    Attributes:
        batches: Whether it may delete several objects at once.
        quotes: Whether it compares ETags with their quotes.
        tried: The locations where this process has tried every request.
    """

    batches: bool = True
    quotes: bool = False
    tried: set[str] = field(default_factory=set)


class S3Client:
    """A boto3 client, made at the first request, and made anew when the credentials were rotated.

    Attributes:
        dialect: What the server takes.
    """

    def __init__(self, bucket: str, timeouts: Timeouts):
        self.timeouts = timeouts
        self._bucket = bucket
        self._lock = Lock()
        self._client: Any = None
        self._session: Any = None
        self._next_session = 0.0
        self._dialect: Dialect | None = None

    @property
    def dialect(self) -> Dialect:
        """What the server takes, shared by all clients of a bucket in this process."""
        if self._dialect is None:
            self._dialect = _DIALECTS.setdefault((self.client.meta.endpoint_url, self._bucket), Dialect())
        return self._dialect

    @property
    def client(self) -> Any:
        """The boto3 client. Each process creates its own, at the first use."""
        if self._client is None:
            with self._lock:
                if self._client is None:
                    self._session = boto3.session.Session()
                    self._client = self._new_client(self._session)
        return self._client

    def run(self, request: Callable[[Any], _Result]) -> _Result:
        """Return the result of a request. If its credentials were rotated, it is sent once more with the new ones.

        Raises:
            ClientError, BotoCoreError, OSError: What boto3 raises.
        """
        client = self.client
        pauses = iter(_TOKEN_PAUSES_SECONDS if self.timeouts.attempts >= _PATIENT_ATTEMPTS else ())
        while True:
            try:
                return request(client)
            except (ClientError, *FAILURES) as error:
                if not may_be_credentials(error):
                    raise
                newer = self._renewed(client)
                if newer is client:
                    answer = client_error(error)
                    pause = next(pauses, None) if answer and code_of(answer) in EXPIRED_CODES else None
                    if pause is None:
                        raise
                    time.sleep(pause)  # what renews the token may be a little late
                client = newer

    def _renewed(self, used: Any) -> Any:
        """Return a client with other credentials than the used one, or that one if there are none."""
        with self._lock:
            if self._client is not used or time.monotonic() < self._next_session:
                return self._client
            self._next_session = time.monotonic() + _SECONDS_BETWEEN_SESSIONS
            try:
                session = boto3.session.Session()
                if _credentials(session) != _credentials(self._session):
                    self._session, self._client = session, self._new_client(session)
            except (BotoCoreError, OSError):  # the file is just being written
                pass
            return self._client

    def _new_client(self, session: boto3.session.Session) -> Any:
        client = self._configured(session)
        host = urlsplit(client.meta.endpoint_url).hostname or ""
        if not host.endswith((".amazonaws.com", ".amazonaws.com.cn")):
            # Many servers other than AWS support neither checksums in trailers nor buckets as host names.
            style = (client.meta.config.s3 or {}).get("addressing_style", "path")
            client = self._configured(
                session,
                s3={"addressing_style": style},
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            )
        client.meta.events.register("before-sign.s3.DeleteObjects", self._with_md5)
        return client

    def _configured(self, session: boto3.session.Session, **more: Any) -> Any:
        return session.client(
            "s3",
            config=Config(
                max_pool_connections=MAX_CONNECTIONS,
                connect_timeout=self.timeouts.connect_seconds,
                read_timeout=self.timeouts.read_seconds,
                retries={"mode": "standard", "total_max_attempts": self.timeouts.attempts},
                tcp_keepalive=True,
                user_agent_extra="cardpress",
                **more,
            ),
        )

    def _with_md5(self, request: Any, **_: object) -> None:
        """Send the MD5 of a batch of deletions, which all servers take, instead of a checksum that some lack."""
        for name in [name for name in request.headers if name.lower().startswith(("x-amz-checksum", "x-amz-sdk-"))]:
            del request.headers[name]
        request.headers["Content-MD5"] = content_md5(request.data)


_DIALECTS: dict[tuple[str, str], Dialect] = {}


def content_md5(data: bytes) -> str:
    """Return the value of a header Content-MD5."""
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()


def _credentials(session: boto3.session.Session) -> Any:
    found = session.get_credentials()
    return found and found.get_frozen_credentials()
