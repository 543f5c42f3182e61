"""Lower bounds on the shim's server: a Flask endpoint that does nothing, and one that checks key and limit first.

The second uses the product's own classes for both checks.
"""

import time
from pathlib import Path

from flask import Flask, request

from bench.peers.peer import Peer, wsgi
from edge_auth.api.auth import authenticate
from edge_auth.live.counter import FileCounter
from edge_auth.live.keyring import Keyring
from edge_auth.live.log import Log
from generator.storage.keys import open_key_file


class Nothing(Peer):
    """Plain Flask; the answer is `{}`."""

    name = "Flask, nothing"
    offers = frozenset({"floor"})
    ready = "/ready"  # this path does not exist: 404

    def command(self, port: int) -> list[str]:
        return wsgi("bench.peers.nothing", port)

    def target(self, target: str) -> str:
        return "/"


class KeyedNothing(Nothing):
    """The same, after a check of key and limit."""

    name = "Flask, nothing but key and limit"

    def command(self, port: int) -> list[str]:
        return wsgi("bench.peers.nothing", port, self.data.store, self.data.state)

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.data.key}"}


def create(store: str = "", state: str = "") -> Flask:
    """Return the application; with a store, it checks keys and counts requests."""
    app = Flask("nothing")
    if not store:
        app.add_url_rule("/", view_func=dict)
        return app
    keyring, counter = Keyring(open_key_file(store), Log()), FileCounter(Path(state) / "c", print)

    @app.get("/")
    def nothing() -> tuple[dict[str, str], int, dict[str, str]]:
        now = time.time()
        record = authenticate(keyring, request.environ, now)
        return {}, 200, counter.hit(f"key {record.id}", record.rate_limit, now).headers()

    return app
