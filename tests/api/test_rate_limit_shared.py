"""Shims of several machines, which share nothing but the store and a Redis server."""

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest

from tests.support.ports import free_port
from tests.support.programs import needs
from tests.support.rate_limits import assert_exact, fallbacks, flood
from tests.support.redis_server import RedisServer
from tests.support.service import API, Service, issue, until

pytestmark = [
    needs("Redis"),
    pytest.mark.shim_only("an nginx that counts excludes Redis"),
    pytest.mark.xdist_group("two machines"),  # one process: the shims are started once
]
ALONE = "counting on this machine alone"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture(scope="module")
def services(server: RedisServer, fixed_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list]:
    """Two shims of two workers, each with a state folder of its own, as on two machines."""
    state = tmp_path_factory.mktemp("machines")
    url = ("--rate-limit-url", server.url)
    with (
        Service(fixed_store, state / "one", *url, workers=2, metrics=free_port()) as one,
        Service(fixed_store, state / "other", *url, workers=2, metrics=free_port()) as other,
    ):
        yield [one, other]


@pytest.mark.thorough
def test_two_machines_let_exactly_the_limit_through(services: list[Service], fixed_store: Path) -> None:
    for _ in range(8):
        before = [fallbacks(service) for service in services]
        key, turns = issue(fixed_store, rate_limit=60), cycle(services)
        windows = flood(lambda turns=turns, key=key: next(turns).client(key), f"{API}/me", threads=8, each=25)
        if [fallbacks(service) for service in services] == before:
            break  # else this machine was so busy that the server took longer than its timeout
    assert_exact(windows, 60)


def test_a_server_that_dies_and_comes_back(services: list[Service], server: RedisServer, fixed_store: Path) -> None:
    client = services[0].client(issue(fixed_store, rate_limit=100_000))
    server.kill()
    try:
        assert [client.get(f"{API}/me").status for _ in range(20)] == [200] * 20
    finally:
        server.start()
    until(lambda: ALONE in services[0].log.read_text(), 60, "the shim says that it counts alone")
    assert fallbacks(services[0]) > 0
