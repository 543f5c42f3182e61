"""The input and the output of the shim."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Request(NamedTuple):
    """A request.

    Attributes:
        path: Percent-decoded.
        query: Raw; each character stands for one byte.
        headers: The headers that the shim reads, by lower-case name.
        client: Address of the client, behind any trusted proxies.
        id: Identifies the request in the log.
    """

    method: str
    path: bytes
    query: str
    headers: Mapping[str, str]
    client: str
    id: str


@dataclass
class Answer:
    """An answer.

    Attributes:
        stream: The body in chunks, to be sent when other requests run, in place of `body`.
        key_id: The id of the request's key, or None, for log and metrics.
        endpoint: The path of the endpoint as docs/api.md writes it, or None, for log and metrics.
        shared_scope: The scope of the keys that get the same 200, "-" for all keys, or None if no other key does.
    """

    status: int
    headers: dict[str, str]
    body: bytes = b""
    stream: Iterable[bytes] | None = None
    key_id: str | None = None
    endpoint: str | None = None
    shared_scope: str | None = None


@dataclass
class ResponseContext:
    """The headers of an answer and the names for the log, collected while the request is checked.

    Attributes:
        headers: Headers of the answer.
        key_id, endpoint, shared_scope: As in `Answer`.
    """

    headers: dict[str, str] = field(default_factory=dict)
    key_id: str | None = None
    endpoint: str | None = None
    shared_scope: str | None = None
