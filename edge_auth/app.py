"""The Flask application: Flask serves /healthz, and its documented `wsgi_app` hook hands the API to the heart.

A request of the API costs the heart a few microseconds to reach this way; Flask's routing would add fifty.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from http.client import responses
from pathlib import Path

from flask import Flask

from edge_auth.answer import Shim
from edge_auth.contract.copies import Copies
from edge_auth.contract.keys import open_key_file
from edge_auth.contract.store import open_store
from edge_auth.keyring import Keyring
from edge_auth.library import Library
from edge_auth.log import Log
from edge_auth.ratelimit import Counter
from edge_auth.request import Network, Request, client_address

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


@dataclass(frozen=True)
class Settings:
    """What a shim is told.

    Attributes:
        store: location of the store.
        state: folder of the rate limit's counter and of local copies of what is mapped into memory.
        keys: location of the key records, None for the one in the store.
        trusted_proxies: networks whose X-Forwarded-For is believed.
    """

    store: str
    state: str
    keys: str | None = None
    trusted_proxies: tuple[Network, ...] = ()


class Gateway:
    """WSGI in front of the heart."""

    def __init__(self, shim: Shim, log: Log, trusted_proxies: tuple[Network, ...], flask: Callable):
        self._shim = shim
        self._log = log
        self._trusted = trusted_proxies
        self._flask = flask

    def __call__(self, environ: dict, start_response: Callable) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/healthz":
            return self._flask(environ, start_response)
        started, now = time.perf_counter(), time.time()
        request = self._request(environ)
        answer = self._shim.answer(request, now)
        start_response(f"{answer.status} {responses[answer.status]}", list(answer.headers.items()))
        self._log.request(request, answer, now, time.perf_counter() - started)
        return [answer.body if request.method != "HEAD" else b""]

    def _request(self, environ: dict) -> Request:
        peer, forwarded = environ.get("REMOTE_ADDR", ""), environ.get("HTTP_X_FORWARDED_FOR", "")
        return Request(
            method=environ["REQUEST_METHOD"],
            path=environ["PATH_INFO"].encode("latin-1"),
            query=environ.get("QUERY_STRING", ""),
            headers={name: environ[variable] for variable, name in _HEADERS.items() if variable in environ},
            client=client_address(peer, forwarded, self._trusted) if self._trusted else peer,
        )


def create_app(settings: Settings, log: Log | None = None) -> Flask:
    """The application, to be made in the process that serves it; its log goes to standard error."""
    log = log or Log()
    store = open_store(settings.store, hurried=True)
    keyring = Keyring(open_key_file(settings.store, settings.keys, hurried=True), log)
    counter = Counter(counter_file(settings.state, store.location), log.line)
    library = Library(store, Copies(Path(settings.state) / "copies"), log)
    shim = Shim(library, keyring, counter, log)
    app = Flask("edge_auth")

    @app.get("/healthz")
    def healthz() -> tuple[dict, int]:
        try:
            return {"status": "ok", "build": shim.ready()}, 200
        except Exception as error:
            log.line(f"not ready: {error}")
            return {"status": "unavailable"}, 503

    with suppress(Exception):  # a build that cannot be read is told by every answer, not by a crash
        shim.ready()
    app.wsgi_app = Gateway(shim, log, settings.trusted_proxies, app.wsgi_app)  # type: ignore[method-assign]
    return app


def counter_file(state: str, store_location: str) -> Path:
    """The counter of a store: all its shims on this machine that share a state folder share it."""
    return Path(state) / f"limits-{sha256(store_location.encode()).hexdigest()[:16]}.sqlite3"
