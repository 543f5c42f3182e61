"""The Flask application: Flask serves /healthz, and its documented `wsgi_app` hook hands the API to the heart.

A request of the API costs the heart a few microseconds to reach this way; Flask's routing would add fifty.
"""

import re
import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from http.client import responses
from itertools import count
from pathlib import Path

from flask import Flask, request

from edge_auth.contract.keys import KeyFile, open_key_file
from edge_auth.contract.store.file_cache import FileCache
from edge_auth.contract.store.open import open_store
from edge_auth.core.answer import Shim
from edge_auth.core.rate_limit import Counter
from edge_auth.core.request import Network, Request, client_address
from edge_auth.host.build_registry import BuildRegistry
from edge_auth.host.file_counter import FileCounter
from edge_auth.host.keyring import MAX_AGE_SECONDS, Keyring
from edge_auth.host.log import Log, cleaned
from edge_auth.host.metrics import Metrics, PrometheusMetrics
from edge_auth.host.single_flight import REQUEST_TIMEOUT_SECONDS, SingleFlight

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


@dataclass(frozen=True)
class Settings:
    """What a shim is told.

    Attributes:
        store: location of the store.
        state: folder of the rate limit's counter and of local copies of what is mapped into memory.
        keys: location of the key records, None for the one in the store.
        trusted_proxies: networks whose X-Forwarded-For is believed.
        rate_limit_url: where the counter is that all machines share, None for the one in the state folder.
        metrics: folder to count in for Prometheus, None to count nothing.
        store_seconds: how long a request waits for a store in a network.
        keys_seconds: how long key records stay in force that cannot be read anew.
    """

    store: str
    state: str
    keys: str | None = None
    trusted_proxies: tuple[Network, ...] = ()
    rate_limit_url: str | None = None
    metrics: Path | None = None
    store_seconds: float = REQUEST_TIMEOUT_SECONDS
    keys_seconds: float = MAX_AGE_SECONDS


class Gateway:
    """WSGI in front of the heart."""

    def __init__(self, shim: Shim, log: Log, metrics: Metrics, trusted_proxies: tuple[Network, ...], flask: Callable):
        self._shim = shim
        self._log = log
        self._metrics = metrics
        self._trusted = trusted_proxies
        self._flask = flask
        self._process = secrets.token_hex(4)
        self._numbers = count(1)

    def __call__(self, environ: dict, start_response: Callable) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/healthz":
            try:
                return self._flask(environ, start_response)
            finally:
                self._metrics.flush()
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

    def _request(self, environ: dict) -> Request:
        peer, forwarded = environ.get("REMOTE_ADDR", ""), environ.get("HTTP_X_FORWARDED_FOR", "")
        return Request(
            method=environ["REQUEST_METHOD"],
            path=environ["PATH_INFO"].encode("latin-1"),
            query=environ.get("QUERY_STRING", ""),
            headers={name: environ[variable] for variable, name in _HEADERS.items() if variable in environ},
            client=client_address(peer, forwarded, self._trusted) if self._trusted else peer,
            id=usable_id(environ.get("HTTP_X_REQUEST_ID", "")) or f"{self._process}-{next(self._numbers)}",
        )


def create_app(settings: Settings, log: Log | None = None) -> Flask:
    """The application, to be made in the process that serves it; its log goes to standard error."""
    log = log or Log()
    metrics = _metrics(settings, log)
    store = metrics.watched(open_store(settings.store, settings.store_seconds))
    keys = open_key_file(settings.store, settings.keys, settings.store_seconds)
    keys = KeyFile(metrics.watched(keys.store), keys.name)
    keyring = Keyring(keys, log, metrics, settings.keys_seconds)
    flights = SingleFlight(settings.store_seconds, metrics.flush)
    library = BuildRegistry(store, FileCache(Path(settings.state) / "copies"), flights, log, metrics)
    shim = Shim(library, keyring, _counter(settings, store.location, log, metrics), log)
    app = Flask("edge_auth")

    def ready_build() -> str:
        """Return the id of the live build. Raises EdgeError if builds or keys cannot be read."""
        keyring.records()
        opened = library.opened()
        opened.catalogue.rows  # noqa: B018  (opened now rather than by the first search)
        return opened.build.id

    @app.get("/healthz")
    def healthz() -> tuple[dict, int]:
        if "live" in request.args:
            return {"status": "ok"}, 200
        try:
            ready = {"status": "ok", "build": ready_build()}
            return ready | {"store": "failing" if library.trouble or keyring.trouble else "ok"}, 200
        except Exception as error:
            log.line(f"not ready: {error}")
            return {"status": "unavailable"}, 503

    with suppress(Exception):  # a build that cannot be read is told by every answer, not by a crash
        ready_build()
    metrics.flush()
    app.wsgi_app = Gateway(shim, log, metrics, settings.trusted_proxies, app.wsgi_app)  # type: ignore[method-assign]
    return app


def usable_id(sent: str) -> str:
    """The id that a client or a proxy gave a request, or "" where it is none to be put into a log.

    Ids are often 32 or more hexadecimal digits, and then too long for the log to trust them not to be a key.
    """
    usable = _REQUEST_ID.fullmatch(sent) and (_HEXADECIMAL.fullmatch(sent) or cleaned(sent) == sent)
    return sent if usable else ""


def _metrics(settings: Settings, log: Log) -> Metrics:
    if settings.metrics is not None:
        try:
            return PrometheusMetrics(settings.metrics)
        except OSError as error:
            log.line(f"this worker counts nothing for Prometheus: {error}")
    return Metrics()


def _counter(settings: Settings, store_location: str, log: Log, metrics: Metrics) -> Counter:
    """The counter of a store: shared by all its shims on this machine that share a state folder, or by all machines."""
    name = sha256(store_location.encode()).hexdigest()[:16]
    embedded = FileCounter(Path(settings.state) / f"limits-{name}", log.line)
    if settings.rate_limit_url is None:
        return embedded
    from edge_auth.host.redis_counter import RedisCounter  # most shims have no use for the client

    return RedisCounter(settings.rate_limit_url, f"cardpress:{name}", embedded, log.line, metrics)
