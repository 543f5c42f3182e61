"""The caches of docs/cdn.md, each in front of `serve --behind-cdn`, with the configuration of the page."""

import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from generator.storage.stores.folder import FolderStore
from tests.support import small_store
from tests.support.commands import issue, run
from tests.support.ports import free_port
from tests.support.programs import needs
from tests.support.service import API, ROOT, Client, Service, answers, running, until

pytestmark = [pytest.mark.shim_only("starts its own services"), pytest.mark.xdist_group("caches")]
TARGET = f"{API}/cards?limit=50"


def block(language: str, shim: int, port: int) -> str:
    """Return a configuration of the page, with the ports of a test."""
    page = (ROOT / "docs" / "cdn.md").read_text("utf-8")
    text = re.search(rf"```{language}\n(.*?)```", page, re.DOTALL)[1]
    inner = str(free_port())
    return text.replace("8000", str(shim)).replace("8080", str(port)).replace("8001", inner)


def varnish(folder: Path, shim: int, port: int) -> list[str]:
    vcl = folder / "cards.vcl"
    vcl.write_text(block("vcl", shim, port))
    place = ["-j", "none", "-n", str(folder / "varnish"), "-a", f"127.0.0.1:{port}"]
    settings = ["-p", "http_gzip_support=off", "-p", "http_range_support=off"]
    return ["varnishd", "-F", *place, "-f", str(vcl), *settings, "-s", "malloc,64m"]


def nginx(folder: Path, shim: int, port: int) -> list[str]:
    servers = block("nginx", shim, port).replace("proxy_cache_path cards", f"proxy_cache_path {folder}/cache")
    kinds = ("proxy", "fastcgi", "uwsgi", "scgi", "client_body")
    paths = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    http = f"http {{ access_log off; {paths}\n{servers}}}"
    (folder / "nginx.conf").write_text(f"daemon off; pid {folder}/pid; error_log stderr;\nevents {{}}\n{http}\n")
    return ["nginx", "-e", "stderr", "-c", str(folder / "nginx.conf")]


def squid(folder: Path, shim: int, port: int) -> list[str]:
    more = f"pid_filename {folder}/pid\ncache_log {folder}/log\naccess_log none\nshutdown_lifetime 0 seconds\n"
    (folder / "squid.conf").write_text(block("squid", shim, port) + more)
    return ["squid", "-N", "-n", f"test{port}", "-f", str(folder / "squid.conf")]


CACHES = {"Varnish": varnish, "nginx": nginx, "Squid": squid}


def _marks(cache: str) -> list[pytest.MarkDecorator]:
    return [needs(cache), *([pytest.mark.thorough] if cache != "Varnish" else [])]


@pytest.fixture(params=[pytest.param(name, marks=_marks(name)) for name in CACHES])
def cache(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextmanager
def in_front(cache: str, shim: int) -> Iterator[int]:
    """Start a cache in front of a shim. Yield its port."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="cardpress-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o777)  # Squid has a user of its own
        with running(CACHES[cache](folder, shim, port), folder / "out", lambda: answers(port)):
            yield port


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    store = FolderStore(str(tmp_path / "store"))
    small_store.add_build(store, 60)
    return store


@pytest.mark.thorough
def test_a_cache_shares_bodies_and_nothing_else(cache: str, store: FolderStore, tmp_path: Path) -> None:
    location = Path(store.location)
    one, two, counted = issue(location), issue(location), issue(location, rate_limit=120)
    with (
        Service(location, tmp_path / "state", "--behind-cdn", through_nginx=False) as service,
        in_front(cache, service.port) as port,
    ):
        first = Client(port, one).get(TARGET)
        assert first.status == 200
        before = sent(service)
        for key in (one, two) * 10:
            answer = Client(port, key).get(TARGET)
            assert (answer.status, answer.body) == (200, first.body)
        statuses = Counter(line["status"] for line in sent(service)[len(before) :])
        assert statuses == {304: 20}, "the cache asks each time, and has the body"
        for target in (f"{API}/me", f"{API}/changes"):
            answers = {Client(port, key).get(target).body for key in (one, two)}
            assert len(answers) == (2 if target.endswith("/me") else 1)
        assert Client(port).get(TARGET).status == 401
        assert Client(port, one).get(f"{API}/cards?limit=0").status == 400
        assert Client(port, one).get(f"{API}/cards?limit=50&offset=1").body != first.body
        pinned = Client(port, one).get(TARGET, X_Build="2000-01-01-000000000000")
        assert pinned.status == 400
        plain = Client(port, one).send("GET", TARGET, {"Accept-Encoding": "gzip"})
        assert plain.status == 200 and plain["Content-Encoding"] == "gzip"

        for _ in range(2):
            check_what_a_cache_might_do_by_itself(cache, Client(port, one), Client(service.port, one))

        minute = int(time.time()) // 60
        until(lambda: int(time.time()) // 60 > minute, 70, "a minute begins")
        statuses = Counter(Client(port, counted).get(TARGET).status for _ in range(123))
        assert statuses == {200: 120, 429: 3}

        key_id = sent(service)[-1]["key"]
        run("keys", "revoke", key_id, "--store", location)
        until(lambda: Client(port, counted).get(TARGET).code == "revoked_api_key", 5, "a revoked key is refused")
        live = small_store.add_build(store)
        until(lambda: Client(port, one).get(TARGET)["X-Build"] == live, 10, "the new build shows")
        assert Client(port, two).get(TARGET).body != first.body


def check_what_a_cache_might_do_by_itself(name: str, cache: Client, shim: Client) -> None:
    """Ranges and HEAD of lists, ranges of bulk files, and the client's own ETag are answered as the shim does."""
    tag = shim.get(TARGET)["ETag"]
    [file, *_] = shim.get(f"{API}/bulk").json["files"]
    for method, target, headers, status in (
        ("GET", TARGET, {"Range": "bytes=0-9"}, 200),
        ("HEAD", TARGET, {}, 405),
        ("GET", TARGET, {"If-None-Match": tag}, 304),
        ("GET", TARGET, {"If-None-Match": '"another"'}, 200),
        ("GET", TARGET, {}, 200),
        ("GET", file["url"], {"Range": "bytes=0-9"}, 206),
        ("HEAD", file["url"], {}, 200),
    ):
        found, expected = cache.send(method, target, headers), shim.send(method, target, headers)
        assert found.status == expected.status == status, (method, target, headers)
        assert found.body == expected.body and (target != TARGET or found["Accept-Ranges"] is None)


def sent(service: Service) -> list[dict]:
    """Return the lines of the shim's log about requests of the API, once they are written."""
    last = f"line-{time.monotonic_ns()}"
    service.get("/nowhere", **{"X-Request-Id": last})
    until(lambda: last in service.log.read_text(), 60, "the lines before it are written")
    lines = [json.loads(line) for line in service.log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("endpoint")]
