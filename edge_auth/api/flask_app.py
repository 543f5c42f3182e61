"""Flask as the API needs it: paths stay as they were sent, and a request knows when it came."""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network
from itertools import count
from pathlib import Path
from time import perf_counter, time
from typing import Any, cast

from flask import Flask, Request, current_app, request
from flask.ctx import AppContext
from werkzeug.exceptions import BadRequest, HTTPException, NotFound
from werkzeug.routing import BaseConverter, MapAdapter

from edge_auth.api.endpoint import Endpoint
from edge_auth.live.background import WAIT_SECONDS, OfProcess
from edge_auth.live.build_registry import BuildRegistry, OneBuild
from edge_auth.live.bulk_files import StoredBulkFiles
from edge_auth.live.counter import Counter
from edge_auth.live.keyring import Keyring
from edge_auth.live.log import Log, loggable
from edge_auth.live.metrics import Metrics
from generator.storage.errors import StorageError
from generator.storage.keys import KeyRecord

Network = IPv4Network | IPv6Network
NAME = "cardpress"
IDLE_SECONDS = 75.0  # load balancers keep idle connections for 60 s, and so does the nginx in front of a socket
_MAX_PATH_CHARACTERS = 8000
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_HEXADECIMAL = re.compile("[0-9a-f]{32,64}")
_process, _numbers = secrets.token_hex(4), count(1)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a shim: what `cardpress serve` takes, and says of them. `metrics` is a folder."""

    store: str = "site_out"
    state: str = ""
    keys: str | None = None
    trusted_proxies: tuple[Network, ...] = ()
    rate_limit_url: str | None = None
    metrics: Path | None = None
    store_seconds: float = WAIT_SECONDS
    drain_seconds: float = 0.0
    socket: Path | None = None  # of an nginx in front, from which every request comes
    guest_limit: int = 0
    behind_cdn: bool = False
    worker_secret: str | None = None
    idle_seconds: float = IDLE_SECONDS


@dataclass(frozen=True, kw_only=True)
class Cardpress:
    """What a process answers from: `app.extensions["cardpress"]`, in a context of the application.

    Attributes:
        keyring, counter: Without them, this process asks itself: no key is needed.
        files: Sends bulk files, and large bodies in chunks.
        log: Without it, failures are raised.
    """

    builds: BuildRegistry | OneBuild
    keyring: Keyring | None = None
    counter: Counter | None = None
    files: StoredBulkFiles | None = None
    log: Log | None = None
    metrics: Metrics = field(default_factory=Metrics)
    settings: Settings = Settings()


class ApiRequest(Request):
    """Flask's request, with what checks, limits and the log need.

    Attributes:
        method, query: As they were sent: methods differ in upper and lower case.
        raw_path: Percent-decoded.
        access: The declaration of what is asked for.
        answer_headers: Headers of the answer that are known before it: the use of the limit, and the build.
        now, started: When it came, in Unix time and on the clock that measures durations.
    """

    access: Endpoint | None = None
    key: KeyRecord | None = None
    key_id: str | None = None

    def __init__(self, environ: dict[str, Any], populate_request: bool = True, shallow: bool = False):
        self.environ, self.shallow = environ, shallow
        self.method: str = environ["REQUEST_METHOD"]
        self.raw_path: bytes = environ["PATH_INFO"].encode("latin-1")
        self.query: str = environ.get("QUERY_STRING", "")
        self.id = _id(environ)
        self.answer_headers: dict[str, str] = {}
        self.now, self.started = time(), perf_counter()

    def __getattr__(self, name: str) -> Any:
        """Parse the other attributes at the first use of one, which few requests need."""
        method = self.method
        super().__init__(self.environ, populate_request=False)
        self.method = method  # Werkzeug's is in upper case
        return self.__getattribute__(name)


def _id(environ: dict[str, Any]) -> str:
    """Return the id that a client or a proxy gave a request, or a new one if that must not go into the log.

    The log removes long texts that may be API keys. Ids of 32 or more hexadecimal digits are common, and allowed.
    """
    given: str | None = environ.get("HTTP_X_REQUEST_ID")
    if given and _REQUEST_ID.fullmatch(given) and (_HEXADECIMAL.fullmatch(given) or loggable(given) == given):
        return given
    return f"{_process}-{next(_numbers)}"


# They return the objects themselves, whose attributes cost less than those of Flask's proxies.
this_request = cast("Callable[[], ApiRequest]", request._get_current_object)  # type: ignore[attr-defined]  # of the proxy
this_app = cast("Callable[[], ApiFlask]", current_app._get_current_object)  # type: ignore[attr-defined]  # too


def this_service() -> Cardpress:
    return this_app().service()


class AnyText(BaseConverter):
    """A part of a path that may hold slashes and line feeds."""

    regex = "(?s:.+)"
    part_isolating = False


class ApiFlask(Flask):
    """An application whose paths are what the client sent: no slash is added, removed or merged.

    `service` makes what a process answers from at its first request: an application may be made before a fork, which no
    thread, no lock that is held and no connection survives. `no_view` returns the answer to a request without a view,
    or None: then Flask looks for a handler.
    """

    request_class = ApiRequest

    def __init__(self, make_service: Callable[[], Cardpress], no_view: Callable[[HTTPException], Any]):
        super().__init__("edge_auth", static_folder=None)
        self.url_map.merge_slashes = False
        self.url_map.converters["text"] = AnyText
        self.service = OfProcess(make_service)
        self._no_view = no_view
        self.ensure_sync = lru_cache(self.ensure_sync)  # type: ignore[method-assign]  # it inspects code at each request

    def app_context(self) -> AppContext:
        self.extensions[NAME] = self.service()
        return super().app_context()

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return what finds the rule of a request, whatever its Host.

        Raise NotFound for a path that no object has, BadRequest for a target without a slash.
        """
        if request is None:
            return super().create_url_adapter(None)
        path: str = request.environ["PATH_INFO"]  # each character stands for one byte
        try:
            path = path if path.isascii() else path.encode("latin-1").decode()
        except UnicodeError:
            raise NotFound from None
        if not path.startswith("/"):  # Werkzeug would redirect
            raise BadRequest
        if len(path) > _MAX_PATH_CHARACTERS or path.startswith("//"):  # Werkzeug would drop a slash
            raise NotFound
        method = request.method if request.method.isupper() else ""  # Werkzeug would take `get` for GET
        return MapAdapter(self.url_map, "", "", "", "http", path, method)

    def handle_http_exception(self, e: HTTPException) -> Any:
        """Answer what no view answers below /api, before any handlers that an application has for its own views."""
        answer = self._no_view(e) if e is this_request().routing_exception else None
        return super().handle_http_exception(e) if answer is None else answer

    def log_exception(self, exc_info: Any) -> None:
        """Log what failed in an answer of the API, and what is no defect, in the shim's log; all else is Flask's."""
        asked, log, error = this_request(), self.extensions[NAME].log, exc_info[1]
        is_of_api = asked.access is not None and not asked.access.own
        if log is not None and (is_of_api or isinstance(error, StorageError)):
            log.failure(asked.method, asked.raw_path, asked.id, error)
        else:
            super().log_exception(exc_info)
