"""The WSGI adapter: from a WSGI request to the shim and back, with request ids, log and metrics."""

import re
import secrets
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from http.client import responses
from itertools import count
from typing import TYPE_CHECKING, Any

from edge_auth.api.answer import Shim, bad_request
from edge_auth.api.client_address import Network, client_address
from edge_auth.api.nginx_edge import asked_build, describe, fetched, fetches
from edge_auth.api.refusal_header import repeat_body
from edge_auth.live.log import Log, clean
from edge_auth.live.metrics import Metrics
from edge_auth.live.request import Request

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_HEADERS = {
    "HTTP_" + name.upper().replace("-", "_"): name
    for name in (
        "authorization",
        "x-api-key",
        "accept",
        "accept-encoding",
        "if-none-match",
        "x-build",
        "origin",
        "access-control-request-method",
        "range",
        "if-range",
    )
}
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_ONE_HOST = "an HTTP/1.1 request must have one header Host"
_HEXADECIMAL = re.compile("[0-9a-f]{32,64}")


class Gateway:
    """The WSGI application: /healthz goes to Flask, every other path to the shim.

    Args:
        turns: Admits a request while it is answered. A stream is sent after that.
        behind_nginx: Whether every request comes from the nginx of `edge_auth/nginx`.
    """

    def __init__(
        self,
        shim: Shim,
        log: Log,
        metrics: Metrics,
        trusted_proxies: tuple[Network, ...],
        flask: "WSGIApplication",
        turns: AbstractContextManager[object],
        behind_nginx: bool = False,
    ):
        self._turns = turns
        self._shim = shim
        self._log = log
        self._metrics = metrics
        self._trusted = trusted_proxies
        self._flask = flask
        self._behind_nginx = behind_nginx
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
            asks_itself = self._behind_nginx and fetches(environ)
            return (self._fetched if asks_itself else self._answer)(environ, start_response)

    def _answer(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        started, now = time.perf_counter(), time.time()
        request = self._request(environ)
        answer = self._shim.answer(request, now) if _has_one_host(environ) else bad_request(_ONE_HOST)
        if self._behind_nginx:
            describe(answer, asked_build(environ))
        repeat_body(answer, environ)
        if request.method == "HEAD":
            answer.body = b""
        start_response(f"{answer.status} {responses[answer.status]}", list(answer.headers.items()))
        seconds = time.perf_counter() - started
        self._metrics.request(answer, seconds)
        self._log.request(request, answer, now, seconds)
        return [answer.body] if answer.stream is None else answer.stream

    def _fetched(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Answer a request of nginx itself, which is neither counted nor logged."""
        text = fetched(self._shim, environ)
        start_response("200 OK", [("Content-Type", "application/http"), ("Content-Length", str(len(text)))])
        self._metrics.flush()
        return [text]

    def _request(self, environ: "WSGIEnvironment") -> Request:
        peer, forwarded = environ.get("REMOTE_ADDR", ""), environ.get("HTTP_X_FORWARDED_FOR", "")
        if self._behind_nginx:  # a unix socket has no address; nginx appends that of its client
            forwarded, _, peer = forwarded.rpartition(",")
            peer = peer.strip()
        return Request(
            method=environ["REQUEST_METHOD"],
            path=environ["PATH_INFO"].encode("latin-1"),
            query=environ.get("QUERY_STRING", ""),
            headers={name: environ[variable] for variable, name in _HEADERS.items() if variable in environ},
            client=client_address(peer, forwarded, self._trusted) if self._trusted else peer,
            id=usable_id(environ.get("HTTP_X_REQUEST_ID", "")) or f"{self._process}-{next(self._numbers)}",
        )


def _has_one_host(environ: "WSGIEnvironment") -> bool:
    """Return whether HTTP's rule about Host holds. granian joins the values of several with a comma."""
    host = environ.get("HTTP_HOST", "")
    return "," not in host and (host != "" or environ.get("SERVER_PROTOCOL") != "HTTP/1.1")


class ClosingWhenDraining:
    """Adds `Connection: close` to every answer while the server is about to end, so that clients connect elsewhere."""

    def __init__(self, application: "WSGIApplication", draining: object):
        self._application = application
        self._draining = draining

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Answer a WSGI request."""
        if not self._draining:
            return self._application(environ, start_response)

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            return start_response(status, [*headers, ("Connection", "close")], *more)

        return self._application(environ, start)


def usable_id(text: str) -> str:
    """Return the id that a client or a proxy gave a request, or '' if it must not go into the log.

    The log removes long texts that may be API keys. Ids of 32 or more hexadecimal digits are common, and allowed.
    """
    usable = _REQUEST_ID.fullmatch(text) and (_HEXADECIMAL.fullmatch(text) or clean(text) == text)
    return text if usable else ""
