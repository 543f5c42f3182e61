"""Bulk files of a store on S3: they pass through a worker in pieces, however slow their clients are."""

import hashlib
import http.client
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import many_prices
from tests.support.commands import build, issue
from tests.support.s3_fixtures import on_s3
from tests.support.s3_proxy import Proxy
from tests.support.s3_servers import best
from tests.support.service import Client, Service, until

pytestmark = [*on_s3, pytest.mark.thorough]  # the lake with a large file takes long

FILES = "/bulk-2026-01/"
READ_BYTES, CLIENTS = 2 << 20, 8
STILL_SECONDS, LIMIT = 1.0, 60


@pytest.fixture(scope="module")
def store(servers: Callable, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a store whose largest bulk file has some 20 MB."""
    server = servers(best())
    with pytest.MonkeyPatch.context() as patch:
        server.enter(patch)
        location = f"s3://{server.bucket()}/bulk"
        build(many_prices.write(tmp_path_factory.mktemp("bulk") / "lake", 8_000, 30), location)
    return location


@pytest.fixture
def service(store: str, proxy: Proxy, tmp_path: Path) -> Iterator[Service]:
    with Service(store, tmp_path / "state") as service:
        yield service


@pytest.fixture
def client(service: Service, store: str) -> Client:
    return service.client(issue(store))


@pytest.fixture
def file(client: Client) -> dict:
    file = max(client.get("/api/v1/bulk").json["files"], key=lambda file: file["bytes"])
    assert file["bytes"] > 6 * READ_BYTES
    return file


def ranges_of(proxy: Proxy, work: Callable[[], object]) -> list[str]:
    """Return the ranges of bulk files that were requested from the store during some work."""
    before = len(proxy.heads)
    work()
    heads = (head.decode("latin-1").lower() for head in proxy.heads[before:])
    lines = [head.splitlines() for head in heads if FILES in head.splitlines()[0]]
    return [next((line for line in each if line.startswith("range:")), "whole") for each in lines]


def test_a_range_of_a_file_is_a_range_of_its_object(client: Client, proxy: Proxy, file: dict) -> None:
    small = ranges_of(proxy, lambda: client.get(file["url"], Range="bytes=1000-1999"))
    assert small == ["range: bytes=1000-1999"]
    large = ranges_of(proxy, lambda: client.get(file["url"], Range=f"bytes=5-{5 * READ_BYTES + 4}"))
    starts = range(5, 5 * READ_BYTES, READ_BYTES)
    assert large == [f"range: bytes={start}-{start + READ_BYTES - 1}" for start in starts]
    assert ranges_of(proxy, lambda: client.send("HEAD", file["url"])) == []


def test_clients_that_do_not_read_cost_little_memory_and_delay_no_request(
    service: Service, client: Client, proxy: Proxy, file: dict
) -> None:
    client.get(file["url"])  # the worker has its buffers
    before = memory_bytes(service)
    stalled = [begun(service.port, client.key, file["url"]) for _ in range(CLIENTS)]
    until(lambda: time.monotonic() > last_fetch(proxy) + STILL_SECONDS, LIMIT, "the worker fetches no more")
    grown = memory_bytes(service) - before
    assert grown < CLIENTS * file["bytes"] / 2, f"{grown / 1e6:.0f} MB"
    started = time.monotonic()
    assert {client.get("/api/v1/me").status for _ in range(50)} == {200}
    assert time.monotonic() - started < 30, "50 requests beside the stalled clients"
    body = stalled[0].read()
    assert (len(body), hashlib.sha256(body).hexdigest()) == (file["bytes"], file["sha256"])
    for answer in stalled:
        answer.close()


def last_fetch(proxy: Proxy) -> float:
    return max(span.ended for span in proxy.spans if FILES in span.request)


def begun(port: int, key: str, target: str) -> http.client.HTTPResponse:
    """Return an answer of which only the head was read, over a connection with small buffers."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
    connection.connect(("127.0.0.1", port))
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\nConnection: close\r\n\r\n".encode())
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    assert answer.status == 200
    return answer


def memory_bytes(service: Service) -> int:
    pid = service.process.pid
    workers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    texts = [Path(f"/proc/{worker}/smaps_rollup").read_text() for worker in workers]
    lines = [line.split() for text in texts for line in text.splitlines() if line.startswith("Private_Dirty:")]
    return sum(int(kilobytes) * 1024 for _, kilobytes, _ in lines)
