"""The WSGI adapter: from a WSGI request to the shim and back, with request ids, log and metrics."""

import re
import secrets
import time
from collections.abc import Iterable
from contextlib import nullcontext
from http.client import responses
from itertools import count
from typing import TYPE_CHECKING

from edge_auth.core.answer import Shim
from edge_auth.core.request import Request
from edge_auth.host.client_address import Network, client_address
from edge_auth.host.log import Log, clean
from edge_auth.host.metrics import Metrics
from edge_auth.host.turns import Turns

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_HEADERS = {
    "HTTP_" + name.upper().replace("-", "_"): name
    for name in (
        "authorization",
        "x-api-key",
        "accept-encoding",
        "if-none-match",
        "x-build",
        "origin",
        "access-control-request-method",
    )
}
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_HEXADECIMAL = re.compile("[0-9a-f]{32,64}")


class Gateway:
    """The WSGI application: /healthz goes to Flask, every other path to the shim.

    Args:
        turns: The turns that requests take, if they do not run at the same time.
    """

    def __init__(
        self,
        shim: Shim,
        log: Log,
        metrics: Metrics,
        trusted_proxies: tuple[Network, ...],
        flask: "WSGIApplication",
        turns: Turns | None = None,
    ):
        self._turns = turns if turns is not None else nullcontext()
        self._shim = shim
        self._log = log
        self._metrics = metrics
        self._trusted = trusted_proxies
        self._flask = flask
        self._process = secrets.token_hex(4)
        self._numbers = count(1)

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Answer a WSGI request."""
        if environ["PATH_INFO"] == "/healthz":
            try:
                return self._flask(environ, start_response)
            finally:
                self._metrics.flush()
        with self._turns:
            return self._answer(environ, start_response)

    def _answer(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        started, now = time.perf_counter(), time.time()
        request = self._request(environ)
        answer = self._shim.answer(request, now)
        if request.method == "HEAD":
            answer.body = b""
        start_response(f"{answer.status} {responses[answer.status]}", list(answer.headers.items()))
        seconds = time.perf_counter() - started
        self._metrics.request(answer, seconds)
        self._log.request(request, answer, now, seconds)
        return [answer.body]

    def _request(self, environ: "WSGIEnvironment") -> Request:
        peer, forwarded = environ.get("REMOTE_ADDR", ""), environ.get("HTTP_X_FORWARDED_FOR", "")
        return Request(
            method=environ["REQUEST_METHOD"],
            path=environ["PATH_INFO"].encode("latin-1"),
            query=environ.get("QUERY_STRING", ""),
            headers={name: environ[variable] for variable, name in _HEADERS.items() if variable in environ},
            client=client_address(peer, forwarded, self._trusted) if self._trusted else peer,
            id=usable_id(environ.get("HTTP_X_REQUEST_ID", "")) or f"{self._process}-{next(self._numbers)}",
        )


def usable_id(text: str) -> str:
    """Return the id that a client or a proxy gave a request, or '' if it must not go into the log.

    The log removes long texts that may be API keys. Ids of 32 or more hexadecimal digits are common, and allowed.
    """
    usable = _REQUEST_ID.fullmatch(text) and (_HEXADECIMAL.fullmatch(text) or clean(text) == text)
    return text if usable else ""
