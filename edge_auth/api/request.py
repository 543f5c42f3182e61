"""A request of the API: what Flask is given of it, and what the checks and views find out."""

import re
import secrets
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from time import perf_counter, time
from typing import Any

from flask import Request

from edge_auth.api.endpoints import Endpoint
from edge_auth.live.keys import KeyRecord
from edge_auth.live.log import clean

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_HEXADECIMAL = re.compile("[0-9a-f]{32,64}")
_PARSED = ("scheme", "server", "root_path", "path", "query_string", "headers", "remote_addr")
_process, _numbers = secrets.token_hex(4), count(1)


class LazyRequest(Request):
    """Flask's request, whose parts are parsed at their first use. Most requests need none of them."""

    def __init__(self, environ: dict[str, Any], populate_request: bool = True, shallow: bool = False):
        self.environ, self.shallow = environ, shallow
        self.method = environ["REQUEST_METHOD"]

    def __getattr__(self, name: str) -> Any:
        if name not in _PARSED:
            raise AttributeError(name)
        super().__init__(self.environ, populate_request=False)
        return getattr(self, name)


@dataclass
class Asked:
    """What is known of a request and of its answer so far: `g.asked`.

    Attributes:
        environ: As WSGI has it: headers are `HTTP_…`, each character stands for one byte.
        endpoint: The row of the table that the path belongs to, or None.
        subject: The variable part of the path, '' if it has none.
        record: The record of the request's key, once that is known.
        headers: Headers of the answer: the use of the limit, and the build.
        now: When it came, in Unix time.
        started: The same on the clock that measures durations.
    """

    environ: dict[str, Any]
    endpoint: Endpoint | None = None
    subject: str = ""
    record: KeyRecord | None = None
    headers: dict[str, str] = field(default_factory=dict)
    now: float = field(default_factory=time)
    started: float = field(default_factory=perf_counter)

    @property
    def method(self) -> str:
        """The method as it was sent: methods differ in upper and lower case."""
        method: str = self.environ["REQUEST_METHOD"]
        return method

    @property
    def path(self) -> bytes:
        """The path, percent-decoded."""
        path: str = self.environ["PATH_INFO"]
        return path.encode("latin-1")

    @property
    def query(self) -> str:
        """The query as it was sent."""
        query: str = self.environ.get("QUERY_STRING", "")
        return query

    @cached_property
    def id(self) -> str:
        """The name of the request in the log: the one that a client or a proxy gave it, or a new one."""
        return usable_id(self.environ.get("HTTP_X_REQUEST_ID", "")) or f"{_process}-{next(_numbers)}"

    def has_one_host(self) -> bool:
        """Return whether HTTP's rule about Host holds. granian joins the values of several with a comma."""
        host = self.environ.get("HTTP_HOST", "")
        return "," not in host and (host != "" or self.environ.get("SERVER_PROTOCOL") != "HTTP/1.1")


def usable_id(text: str) -> str:
    """Return the id that a client or a proxy gave a request, or '' if it must not go into the log.

    The log removes long texts that may be API keys. Ids of 32 or more hexadecimal digits are common, and allowed.
    """
    usable = _REQUEST_ID.fullmatch(text) and (_HEXADECIMAL.fullmatch(text) or clean(text) == text)
    return text if usable else ""
