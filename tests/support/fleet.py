"""A fleet on this machine: an S3 server, Redis, two shims of two workers each, and nginx in front of them."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from generator.releases.publish import publish
from generator.storage.stores.open import open_store
from tests.support import nights
from tests.support.nginx import Nginx
from tests.support.ports import free_port
from tests.support.redis_server import RedisServer
from tests.support.s3_servers import S3Server
from tests.support.service import Client, Service

WORKERS = 2


@contextmanager
def surroundings(server: S3Server, cache: Path, endpoint: str | None = None) -> Iterator[None]:
    """Set the environment so that boto3 finds the server, in this process and in processes started meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        server.enter(patch, endpoint=endpoint)
        patch.setenv("XDG_CACHE_HOME", str(cache))
        yield


def make(lake: Path, store: str) -> str:
    """Build a lake into a store in this process, and publish the build. Return its id."""
    opened = open_store(store)
    build = nights.make(lake, opened)
    publish(opened, build, by_hand=True)
    return build


@dataclass
class Fleet:
    """Two shims of one store behind one nginx. Tests use it like a single service.

    `port` is nginx's. Requests can also go to the `shims` directly.
    """

    store: str
    nginx: Nginx
    shims: list[Service]

    @property
    def port(self) -> int:
        return self.nginx.port

    def client(self, key: str | None = None, **headers: str) -> Client:
        return Client(self.port, key, {name.replace("_", "-"): value for name, value in headers.items()})


@contextmanager
def running(store: str, redis: RedisServer, folder: Path) -> Iterator[Fleet]:
    """Start the fleet over a store with a live build. The environment must already point boto3 to the store."""
    more = ("--trusted-proxy", "127.0.0.1/32", "--rate-limit-url", redis.url)
    with ExitStack() as stack:
        shims = [Service(store, folder / name, *more, workers=WORKERS, metrics=free_port()) for name in ("one", "two")]
        for shim in shims:
            stack.enter_context(shim)
        nginx = stack.enter_context(Nginx.before(folder / "nginx", [shim.port for shim in shims]))
        assert os.environ["AWS_ENDPOINT_URL"]
        yield Fleet(store, nginx, shims)
