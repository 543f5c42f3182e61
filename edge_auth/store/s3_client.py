"""The client of S3: boto3 with our timeouts, and with credentials that are read again when they were rotated."""

import time
from collections.abc import Callable
from math import inf
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from edge_auth.store.s3_errors import FAILURES, may_be_credentials

MAX_CONNECTIONS = 32
_SECONDS_BETWEEN_SESSIONS = 2.0

_Result = TypeVar("_Result")


class Timeouts(NamedTuple):
    """How long to wait for a server."""

    attempts: int  # per request
    connect_seconds: float
    read_seconds: float  # between two reads of a response


class S3Client:
    """A boto3 client, made at the first request, and made anew when the credentials were rotated."""

    def __init__(self, timeouts: Timeouts):
        self._timeouts = timeouts
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
        except (ClientError, *FAILURES) as error:
            if not may_be_credentials(error) or (newer := self._newer_than(client)) is client:
                raise
        return request(newer)

    def _newer_than(self, used: Any) -> Any:
        """Return a client that was made after the used one, or that one if it is too early for another."""
        with self._lock:
            if self._client is used and time.monotonic() > self._made + _SECONDS_BETWEEN_SESSIONS:
                self._client, self._made = self._new_client(), time.monotonic()
            return self._client

    def _new_client(self) -> Any:
        config = Config(
            max_pool_connections=MAX_CONNECTIONS,
            connect_timeout=self._timeouts.connect_seconds,
            read_timeout=self._timeouts.read_seconds,
            retries={"mode": "standard", "total_max_attempts": self._timeouts.attempts},
            tcp_keepalive=True,
            user_agent_extra="cardpress",
            # Ceph refuses checksums behind a body, and other servers store them in it. Uploads have an MD5.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        return boto3.session.Session().client("s3", config=config)
