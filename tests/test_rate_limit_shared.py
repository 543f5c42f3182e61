"""Shims of several machines, which share nothing but the store and a Redis server."""

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest

from tests.redis_server import ABSENT, BINARY, RedisServer
from tests.service import Service, issue
from tests.test_rate_limit import API, assert_exact, flood

pytestmark = pytest.mark.skipif(BINARY is None, reason=ABSENT)
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
        Service(fixed_store, state / "one", *url, workers=2) as one,
        Service(fixed_store, state / "other", *url, workers=2) as other,
    ):
        yield [one, other]


def test_two_machines_let_exactly_the_limit_through(services: list[Service], fixed_store: Path) -> None:
    for _ in range(4):
        before = [_alone(service) for service in services]
        key, turns = issue(fixed_store, rate_limit=60), cycle(services)
        windows = flood(lambda turns=turns, key=key: next(turns).client(key), f"{API}/me", threads=8, each=25)
        if [_alone(service) for service in services] == before:
            break  # else this machine was so busy that the server took longer than its timeout
    assert_exact(windows, 60)


def test_a_server_that_dies_and_comes_back(services: list[Service], server: RedisServer, fixed_store: Path) -> None:
    client = services[0].client(issue(fixed_store, rate_limit=100_000))
    server.kill()
    try:
        assert [client.get(f"{API}/me").status for _ in range(20)] == [200] * 20
    finally:
        server.start()
    assert _alone(services[0])


def _alone(service: Service) -> int:
    """How often a shim has begun to count on its own."""
    return service.log.read_text().count(ALONE)
