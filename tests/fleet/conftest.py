"""The fleet, started once. Its fixtures replace the single service that the API's tests use elsewhere."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.copies import copy_of_fixed
from tests.support.fleet import Fleet, running, surroundings
from tests.support.keys import issue_all
from tests.support.programs import require
from tests.support.redis_server import RedisServer
from tests.support.s3_proxy import Proxy
from tests.support.s3_servers import S3Server, best


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all tests of this folder in the process of `on_s3`, so that fleet and S3 are started once.

    `make test` asks one shim.
    """
    for item in items:
        if item.nodeid.startswith("tests/fleet/"):
            item.add_marker(pytest.mark.xdist_group("s3"))
            item.add_marker(pytest.mark.thorough)
            if "fleet" in item.fixturenames:
                item.add_marker(pytest.mark.shim_only("an nginx that counts excludes Redis"))


@pytest.fixture(scope="package")
def s3(servers: Callable[[str], S3Server]) -> S3Server:
    """Return Ceph, or moto if Ceph is not installed: the one that the other tests of this process use."""
    return servers(best())


@pytest.fixture(scope="package")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    require("Redis")
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture(scope="package")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def found(s3: S3Server, cache: Path) -> Iterator[None]:
    """Point boto3 to the S3 server during each test."""
    with surroundings(s3, cache):
        yield


@pytest.fixture
def proxy(s3: S3Server, cache: Path) -> Iterator[Proxy]:
    """Start a proxy between boto3 and the server. It records the requests."""
    with Proxy(s3.endpoint) as between, surroundings(s3, cache, between.endpoint):
        yield between


@pytest.fixture(scope="package")
def fixed_store(s3: S3Server, cache: Path) -> str:
    """Return a prefix of a bucket with one live build, of the fixed lake."""
    store = f"s3://{s3.bucket()}/cards"
    with surroundings(s3, cache):
        copy_of_fixed(store)
    return store


@pytest.fixture(scope="package")
def keys(s3: S3Server, cache: Path, fixed_store: str) -> dict[str, str]:
    with surroundings(s3, cache):
        return issue_all(fixed_store)


@pytest.fixture(scope="package")
def fleet(s3, redis, cache, fixed_store, keys, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    require("nginx")
    with surroundings(s3, cache), running(fixed_store, redis, tmp_path_factory.mktemp("fleet")) as running_fleet:
        yield running_fleet


@pytest.fixture(scope="package")
def fixed_service(fleet: Fleet) -> Fleet:
    return fleet
