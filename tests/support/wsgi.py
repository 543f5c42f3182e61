"""A client that asks the shim's application in this process."""

import os
from http.client import HTTPMessage
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from edge_auth.live.keys import SCOPES, issue, open_key_file
from edge_auth.live.log import Log
from edge_auth.serve.app import Settings, make_app
from tests.support.service import HttpAnswer, Service


class WsgiClient:
    """Requests to an application in this process, as a WSGI server makes them."""

    def __init__(self, location: str, state: str, rate_limit: int, build: str = "", **settings: Any):
        assert not Service.through_nginx, "use NginxClient here, or mark the test shim_only"
        self.location = location
        self.settings = Settings(location, state, **settings)
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
