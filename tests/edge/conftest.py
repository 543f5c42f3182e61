"""A tiny store, a key in it, and a client that speaks WSGI to the application over it."""

import gzip
import json
import os
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

import pytest
import tiny_store

from edge_auth.app import Settings, create_app
from edge_auth.contract.keys import SCOPES, issue, open_key_file
from edge_auth.contract.store import FolderStore
from edge_auth.log import Log

SLUGS = {
    "pikachu": "https://www.cardmarket.com/en/Pokemon/Products/Singles/Base/Pikachu",
    "Éclair/x": "https://www.cardmarket.com/en/Pokemon/Products/Singles/Base/Eclair",
    "raichu": "https://www.cardmarket.com/en/Pokemon/Products/Singles/Jungle/Raichu-V1",
}


@dataclass
class Response:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self):
        zipped = self.headers.get("Content-Encoding") == "gzip"
        return json.loads(gzip.decompress(self.body) if zipped else self.body)

    @property
    def code(self) -> str:
        return self.json()["error"]["code"]

    @property
    def message(self) -> str:
        return self.json()["error"]["message"]


class Client:
    """Requests to an application in this process, as a WSGI server makes them."""

    def __init__(self, location: str, state: str, rate_limit: int, build: str = ""):
        self.location = location
        self.state = state
        self.build = build
        self.key, record = issue("tests", SCOPES, rate_limit, None, 0)
        open_key_file(location).add(record)
        self.reopen()

    def reopen(self) -> None:
        """A new application, which has seen nothing yet."""
        self.app = create_app(Settings(self.location, self.state), Log(os.open(os.devnull, os.O_WRONLY)))

    def get(self, target: str, method: str = "GET", key: str | None = "", **headers: str) -> Response:
        """`headers` by name with _ for -; `key` None sends none, "" the fixture's."""
        path, _, query = target.partition("?")
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            "REMOTE_ADDR": headers.pop("remote", "127.0.0.1"),
            **{f"HTTP_{name.upper()}": value for name, value in headers.items()},
        }
        if key is not None:
            environ["HTTP_X_API_KEY"] = key or self.key
        caught = {}

        def start(status, sent, exc_info=None):
            caught.update(status=int(status.split()[0]), headers=dict(sent))

        body = b"".join(self.app.wsgi_app(environ, start))
        return Response(body=body, **caught)


@pytest.fixture(scope="session")
def products():
    return tiny_store.products()


@pytest.fixture(scope="session")
def location(tmp_path_factory, products):
    folder = tmp_path_factory.mktemp("store")
    tiny_store.write_build(FolderStore(str(folder)), products, slugs=SLUGS)
    return str(folder)


@pytest.fixture(scope="session")
def client(location, tmp_path_factory):
    return Client(location, str(tmp_path_factory.mktemp("state")), 1_000_000)


@pytest.fixture
def own(tmp_path, products):
    """A store of the test's own with a client, for tests that change it."""
    build = tiny_store.write_build(FolderStore(str(tmp_path / "store")), products, slugs=SLUGS)
    return Client(str(tmp_path / "store"), str(tmp_path / "state"), 50, build)


@pytest.fixture
def store(tmp_path, products):
    """A store of the test's own, for shims as processes."""
    tiny_store.write_build(FolderStore(str(tmp_path / "store")), products, slugs=SLUGS)
    return str(tmp_path / "store")
