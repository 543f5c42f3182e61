"""Fixtures for stores on S3: the servers, each started once in a process, and the proxy in front of one.

`tests/conftest.py` loads them as a plugin. Modules that use them run in one process: see `on_s3`.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from botocore import endpoint

from tests.support.programs import require
from tests.support.s3_proxy import Proxy
from tests.support.s3_servers import SERVERS, S3Server, best

# The marks of a module of tests on S3. One process runs all of them, so that each server is started once and
# races are not run against each other.
on_s3 = [pytest.mark.xdist_group("s3"), pytest.mark.usefixtures("short_pauses", "own_cache")]


@pytest.fixture(scope="session")
def servers() -> Iterator[Callable[[str], S3Server]]:
    """Start a server by its name when a test first needs it; skip the test on a machine that does not have it."""
    with ExitStack() as stack:
        running: dict[str, S3Server] = {}

        def get(name: str) -> S3Server:
            require(*["Ceph"] * (name == "ceph"))
            if name not in running:
                running[name] = stack.enter_context(SERVERS[name]())
            return running[name]

        yield get


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make boto3's pauses before a retry ten times shorter."""
    monkeypatch.setattr(endpoint, "time", SimpleNamespace(sleep=lambda seconds: time.sleep(seconds / 10)))


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(params=["best"])
def server(request: pytest.FixtureRequest, servers, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """Start the server that a test names, by default Ceph if it is installed, else moto. Point boto3 to it."""
    name = best() if request.param == "best" else request.param
    found = servers(name)
    found.enter(monkeypatch)
    return found


@pytest.fixture
def proxy(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    with Proxy(server.endpoint) as between:
        monkeypatch.setenv("AWS_ENDPOINT_URL", between.endpoint)
        yield between
