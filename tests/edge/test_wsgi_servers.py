"""The application under the WSGI servers that people run, from a folder and from a bucket; `pytest -s` prints a table.

Those that fork load the application before. The answers are compared with those of the application in this process.
"""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from generator.storage.keys import open_key_file
from generator.storage.stores.open import open_store
from tests.support import small_store
from tests.support.ports import free_port
from tests.support.s3_fixtures import on_s3
from tests.support.s3_servers import best
from tests.support.selection import mostly_thorough
from tests.support.service import API, PLENTY, ROOT, Client, answers, environment, running, until
from tests.support.shim_clients import CHANGING, WsgiClient

pytestmark = [*on_s3, pytest.mark.shim_only("about other servers")]

IN_FORCE = 5
PRODUCTS = small_store.products(50)
PATHS = [
    *(f"{API}/cards/{product['id_product']}{days}" for product in PRODUCTS[:4] for days in ("", "?days=3")),
    *(f"{API}/cards?sort={sort}&limit=100" for sort in ("trend", "low", "avg", "filtered", "name", "number", "newest")),
    *(f"{API}/cards?{query}" for query in ("q=pika", "kind=sealed", "number=4", "rarity=rare", "ids=1,2", "limit=0")),
    *(f"{API}/watchlist{more}" for more in ("", "/pikachu", "/Pikachu/offers", "/raichu/history?view=weekly", "/a")),
    *(f"{API}/watchlist/%C3%89clair%2Fx{more}" for more in ("", "/history?range=30d")),
    *(f"{API}/{name}" for name in ("sets", "games", "movers", "market", "status", "fingerprints", "bulk")),
    *(f"{API}/{name}" for name in ("identifiers", "names?q=p", "changes", "nothing", "cards/99999", "cards?find=pika")),
    *(f"{API}/openapi.json", "/docs", "/"),
]  # fmt: skip
assert len(PATHS) == 44
_GUNICORN = [sys.executable, "-m", "gunicorn", "--preload", "--workers", "2", "app:app"]
_UWSGI = [Path(sys.executable).with_name("uwsgi"), "--master", "--processes", "2", "--module", "app:app"]
_LAMBDA = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from base64 import b64decode
from apig_wsgi import make_lambda_handler
from app import app
handle = make_lambda_handler(app, binary_support=True)
class Gateway(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        path, _, query = self.path.partition("?")
        http = {"method": "GET", "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1"}
        headers = {name.lower(): value for name, value in self.headers.items()}
        said = handle({"version": "2.0", "rawPath": path, "rawQueryString": query, "headers": headers,
                       "requestContext": {"http": http}, "isBase64Encoded": False}, None)
        body = b64decode(said["body"]) if said["isBase64Encoded"] else said["body"].encode()
        self.send_response(said["statusCode"])
        for name, value in said["headers"].items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
ThreadingHTTPServer(("127.0.0.1", PORT), Gateway).serve_forever()
"""  # an adapter for AWS Lambda, behind a gateway of its format 2.0
SERVERS: dict[str, Callable[[str], list[object]]] = {
    "gunicorn --preload, sync": lambda place: [*_GUNICORN, "-k", "sync", "-b", place],
    "gunicorn --preload, gthread": lambda place: [*_GUNICORN, "-k", "gthread", "--threads", "4", "-b", place],
    "uWSGI": lambda place: [*_UWSGI, "--http-socket", place],
    "waitress": lambda place: [sys.executable, "-m", "waitress", f"--listen={place}", "app:app"],
    "Lambda, apig-wsgi": lambda place: [sys.executable, "-c", _LAMBDA.replace("PORT", place.rpartition(":")[2])],
}  # fmt: skip
CASES = [(server, place) for server in SERVERS for place in ("folder", "bucket")]


@pytest.fixture(scope="module")
def table() -> Iterator[list[tuple[object, ...]]]:
    """Rows that are printed in the end."""
    rows: list[tuple[object, ...]] = []
    yield rows
    head = ("server", "store", "other answers", "publish, s", "revoked, s", "lines of the log")
    for row in (head, ["---"] * len(head), *rows):
        print("|", " | ".join(map(str, row)), "|")


@pytest.fixture
def location(servers: Callable, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if place == "folder":
        return str(tmp_path / "store")
    server = servers(best())
    server.enter(monkeypatch)
    return f"s3://{server.bucket()}/out"


def seen(client: Client | WsgiClient, path: str) -> tuple[object, ...]:
    answer = client.get(path)
    headers = {name.lower(): value for name, value in answer.headers.items() if name.lower() not in CHANGING}
    kept = {
        name: headers.get(name)
        for name in ("etag", "x-build", "content-type", "cache-control", "vary", "content-length")
    }
    body = b"" if path.endswith("/me") else answer.body
    return answer.status, kept, body


@pytest.mark.parametrize(("name", "place"), mostly_thorough(CASES, *CASES[::3]))
def test_a_server(name: str, place: str, location: str, tmp_path: Path, table: list) -> None:
    pytest.importorskip("gunicorn")
    store = open_store(location)
    small_store.add_build(store, 50)
    (tmp_path / "app.py").write_text(
        f"from edge_auth import create_app\napp = create_app({location!r}, state={str(tmp_path / 'state')!r})\n"
    )
    here = WsgiClient(location, str(tmp_path / "here"), PLENTY)
    until(lambda: here.get("/healthz").status == 200, 60, "it has its copies")
    port, log = free_port(), tmp_path / "log"
    env = environment() | {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    command = SERVERS[name](f"127.0.0.1:{port}")
    with running(
        command, log, lambda: answers(port), signal.SIGINT if name == "uWSGI" else signal.SIGTERM, cwd=tmp_path, env=env
    ):
        client = Client(port, here.key)
        client.connection.timeout = 20
        different = [path for path in PATHS if seen(client, path) != seen(here, path)]
        assert different == []

        new = small_store.add_build(store, 40)
        began = time.monotonic()
        until(
            lambda: all(client.get(f"{API}/status")["X-Build"] == new for _ in range(9)), IN_FORCE, "by all processes"
        )
        published = time.monotonic() - began

        began = time.monotonic()
        file = open_key_file(location)
        file.update(file.records()[0].id, revoked=True)
        until(
            lambda: all(client.get(f"{API}/me").code == "revoked_api_key" for _ in range(9)), IN_FORCE, "the key is off"
        )
        revoked = time.monotonic() - began
        until(
            lambda: client.get("/healthz?live") and log.read_text().count('"endpoint":"/api/v1/') >= 40,
            IN_FORCE,
            "the log",
        )
    lines = log.read_text().count('"endpoint":')
    table.append((name, place, f"{len(different)} of {len(PATHS)}", f"{published:.1f}", f"{revoked:.1f}", lines))
