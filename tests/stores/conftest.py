"""The stores that the tests of this folder run on, and the servers behind them, each started once."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from botocore import endpoint

from tests.stores.proxy import Proxy
from tests.stores.servers import SERVERS, Server, Unavailable, installed


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All in one process: a server is started once, and races are not run against each other."""
    for item in items:
        if "/stores/" in item.path.as_posix():
            item.add_marker(pytest.mark.xdist_group("stores"))


@pytest.fixture(scope="package")
def servers() -> Iterator[Callable[[str], Server]]:
    """Starts a server by name when first asked; skips the test where this machine has none."""
    with ExitStack() as stack:
        running: dict[str, Server | Unavailable] = {}

        def get(name: str) -> Server:
            if name not in running:
                try:
                    running[name] = stack.enter_context(SERVERS[name]())
                except Unavailable as error:
                    running[name] = error
            found = running[name]
            if isinstance(found, Unavailable):
                pytest.skip(str(found))
            return found

        yield get


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 does not wait long before it tries again."""
    monkeypatch.setattr(endpoint, "time", SimpleNamespace(sleep=lambda seconds: time.sleep(seconds / 10)))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(params=["best"])
def server(request: pytest.FixtureRequest, servers, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The best S3 server that there is, or the one that a test asks for by name; boto3 finds it."""
    name = ("ceph" if installed() else "moto") if request.param == "best" else request.param
    found = servers(name)
    for variable, value in found.environment().items():
        monkeypatch.setenv(variable, value)
    return found


@pytest.fixture(params=["folder", *SERVERS])
def location(request: pytest.FixtureRequest, servers, tmp_path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty store of every kind in turn."""
    if request.param == "folder":
        return str(tmp_path / "store")
    found = servers(request.param)
    for name, value in found.environment().items():
        monkeypatch.setenv(name, value)
    return f"s3://{found.bucket()}/some/prefix"


@pytest.fixture
def proxy(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """Between boto3 and the server."""
    with Proxy(server.endpoint) as between:
        monkeypatch.setenv("AWS_ENDPOINT_URL", between.endpoint)
        yield between
