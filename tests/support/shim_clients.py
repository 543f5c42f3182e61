"""Clients of a new shim's application with the same methods: in this process, and behind nginx with --through-nginx."""

import os
from collections.abc import Sequence
from http.client import HTTPMessage
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from edge_auth.api.flask_app import Settings
from edge_auth.live.log import Log
from edge_auth.serve.app import make_app
from generator.storage.keys import SCOPES, issue, open_key_file
from tests.support.service import Client, HttpAnswer, Service


class WsgiClient:
    """Requests to an application in this process, as a WSGI server makes them."""

    def __init__(self, location: str, state: str, rate_limit: int, build: str = "", **settings: Any):
        assert not Service.through_nginx, "use NginxClient here, or mark the test shim_only"
        self.location = location
        self.settings = Settings(store=location, state=state, **settings)
        self.build = build
        self._log = Path(state).with_suffix(".log")
        self.key, record = issue("tests", SCOPES, rate_limit, None, 0)
        open_key_file(location).add(record)
        self.reopen()

    def __enter__(self) -> "WsgiClient":
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: there is no process to end."""

    def reopen(self) -> None:
        """Start a new application, with empty memory."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self.app = make_app(self.settings, Log(os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)))

    @property
    def log(self) -> str:
        return self._log.read_text()

    def get(self, target: str, method: str = "GET", key: str | None = "", **headers: str) -> HttpAnswer:
        """Send a request. In names of `headers` _ stands for -; `key` None sends no key, "" the client's own."""
        path, _, query = target.partition("?")
        environ = {  # the test client would change bytes that are no UTF-8, and the case of a method
            "REQUEST_METHOD": method,
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            "REMOTE_ADDR": headers.pop("remote", "127.0.0.1"),
            **{f"HTTP_{name.upper()}": value for name, value in headers.items()},
        }
        if key is not None:
            environ["HTTP_X_API_KEY"] = key or self.key
        found = self.app.test_client().open(environ_overrides=environ)
        message = HTTPMessage()
        for name, value in found.headers:
            message[name] = value
        return HttpAnswer(found.status_code, message, found.data)


# Headers of the connection, or different in each answer.
CHANGING = {"connection", "date", "server", "x-cache", *(f"x-ratelimit-{of}" for of in ("limit", "remaining", "reset"))}


class NginxClient:
    """Requests to a shim behind nginx, each sent several `times`: all answers must be equal, nginx's own, too."""

    def __init__(
        self,
        location: str,
        state: str,
        rate_limit: int,
        build: str = "",
        trusted_proxies: Sequence[object] = (),
        times: int = 1,
    ):
        self.location, self.build = location, build
        self._times = times
        options = [word for network in trusted_proxies for word in ("--trusted-proxy", str(network))]
        self._service = Service(location, Path(state), *options, may_log_traces=True)
        self.key, record = issue("tests", SCOPES, rate_limit, None, 0)
        open_key_file(location).add(record)

    def __enter__(self) -> "NginxClient":
        self._service.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._service.__exit__(*error)

    def reopen(self) -> None:
        """Start shim and nginx again, with empty memory."""
        self._service.__exit__(None, None, None)
        self._service.__enter__()

    def get(self, target: str, method: str = "GET", key: str | None = "", **headers: str) -> HttpAnswer:
        """Send a request. In names of `headers` _ stands for -; `key` None sends no key, "" the client's own."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if key is not None:
            sent["X-API-Key"] = key or self.key
        client = Client(self._service.port)
        answers = [client.send(method, target, sent) for _ in range(self._times)]
        client.close()
        assert all(_settled(answer) == _settled(answers[0]) for answer in answers), (target, answers)
        return answers[-1]


AnyClient = WsgiClient | NginxClient


def open_client(location: str, state: str, rate_limit: int, build: str = "", **more: Any) -> AnyClient:
    """Return a client of a new shim: in this process, or behind nginx with the option --through-nginx of pytest."""
    if Service.through_nginx:
        return NginxClient(location, state, rate_limit, build, **more)
    more.pop("times", None)
    return WsgiClient(location, state, rate_limit, build, **more)


def _settled(answer: HttpAnswer) -> tuple[Any, ...]:
    headers = {name.lower(): value for name, value in answer.headers.items() if name.lower() not in CHANGING}
    return answer.status, headers, answer.body
