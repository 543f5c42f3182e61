"""What is known of a request: `g.asked`."""

import re
import secrets
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter, time
from typing import Any

from edge_auth.api.endpoints import Endpoint
from edge_auth.live.keys import KeyRecord
from edge_auth.live.log import clean

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_HEXADECIMAL = re.compile("[0-9a-f]{32,64}")
_process, _numbers = secrets.token_hex(4), count(1)


@dataclass(slots=True)
class Asked:
    """What is known of a request and of its answer so far.

    Attributes:
        environ: As WSGI has it: headers are `HTTP_…`, each character stands for one byte.
        method: As it was sent: methods differ in upper and lower case.
        path: Percent-decoded.
        query: As it was sent.
        id: The name of the request in the log: the one that a client or a proxy gave it, or a new one.
        endpoint: The row of the table that the path belongs to, or None.
        subject: The variable part of the path, '' if it has none.
        client: The address of the client, once the door has looked.
        record: The record of the request's key, once that is known.
        headers: Headers of the answer: the use of the limit, and the build.
        now: When it came, in Unix time.
        started: The same on the clock that measures durations.
    """

    environ: dict[str, Any]
    method: str
    path: bytes
    query: str
    id: str
    endpoint: Endpoint | None
    subject: str = ""
    client: str = ""
    record: KeyRecord | None = None
    headers: dict[str, str] = field(default_factory=dict)
    now: float = field(default_factory=time)
    started: float = field(default_factory=perf_counter)


def read_request(environ: dict[str, Any], endpoint: Endpoint | None) -> Asked:
    """Return what WSGI says of a request."""
    given = environ.get("HTTP_X_REQUEST_ID")
    return Asked(
        environ,
        environ["REQUEST_METHOD"],
        environ["PATH_INFO"].encode("latin-1"),
        environ.get("QUERY_STRING", ""),
        (given and _usable_id(given)) or f"{_process}-{next(_numbers)}",
        endpoint,
    )


def _usable_id(text: str) -> str:
    """Return the id that a client or a proxy gave a request, or '' if it must not go into the log.

    The log removes long texts that may be API keys. Ids of 32 or more hexadecimal digits are common, and allowed.
    """
    usable = _REQUEST_ID.fullmatch(text) and (_HEXADECIMAL.fullmatch(text) or clean(text) == text)
    return text if usable else ""
