"""What the server does with connections: silent ones, several Hosts, failing workers, and its own end."""

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from generator.storage.stores.folder import FolderStore
from tests.support import small_store
from tests.support.service import Service, until

ASK = b"GET /healthz?live HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = FolderStore(str(tmp_path_factory.mktemp("store")))
    small_store.add_build(folder)
    return str(folder.root)


@pytest.fixture
def server(store: str, tmp_path: Path) -> Iterator[Service]:
    with Service(store, tmp_path / "state", workers=2) as server:
        yield server


def exchange(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), 20) as client:
        client.sendall(data)
        return client.recv(65536)


def test_a_request_has_one_host(server: Service) -> None:
    for head, status in (
        (b"HTTP/1.1\r\n", b"400"),
        (b"HTTP/1.1\r\nHost: a\r\nHost: b\r\n", b"400"),
        (b"HTTP/1.1\r\nHost: a\r\nHost: a\r\n", b"400"),
        (b"HTTP/1.1\r\nHost: a\r\n", b"401"),
        (b"HTTP/1.0\r\n", b"401"),
    ):
        for path in (b"/api/v1/me", b"/nowhere"):
            answer = exchange(server.port, b"GET " + path + b" " + head + b"Connection: close\r\n\r\n")
            assert answer.split()[1] == (status if status == b"400" or path != b"/nowhere" else b"404"), head
            assert b'{"error":{"code":' in answer and b"access-control-allow-origin: *" in answer.lower()


def test_many_idle_connections_delay_no_request(server: Service) -> None:
    silent = [socket.create_connection(("127.0.0.1", server.port), 20) for _ in range(1_300)]
    for half in silent[::2]:
        half.sendall(ASK[:20])
    for _ in range(20):
        assert exchange(server.port, ASK).startswith(b"HTTP/1.1 200")
    for connection in silent:
        connection.close()


@pytest.mark.thorough
@pytest.mark.shim_only("nginx keeps its own connections to clients")
def test_the_end_drops_no_request_of_a_client_without_retries(store: str, tmp_path: Path) -> None:
    """Clients keep connections alive and ask all the time; each connection ends after an answer that says so."""
    answers, lost = [], []

    def ask(port: int) -> None:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            while True:
                client.request("GET", "/healthz?live")
                response = client.getresponse()
                answers.append((response.status, response.read()))
                if response.will_close:
                    return
        except (OSError, http.client.HTTPException) as error:
            lost.append(repr(error))

    with Service(store, tmp_path / "state", "--drain", "4", workers=2) as server:
        threads = [threading.Thread(target=ask, args=[server.port]) for _ in range(12)]
        for thread in threads:
            thread.start()
        until(lambda: len(answers) > 100, 60, "they ask")
    for thread in threads:
        thread.join(60)
    assert lost == [] and {status for status, _ in answers} == {200}


def half_a_request(port: int) -> list[socket.socket]:
    client = socket.create_connection(("127.0.0.1", port), 20)
    client.sendall(ASK[:20])
    return [client]


def kept_alive(port: int) -> list[socket.socket]:
    clients = [socket.create_connection(("127.0.0.1", port), 20) for _ in range(200)]
    for client in clients:
        client.sendall(ASK)
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
    return clients


def download(port: int) -> list[socket.socket]:
    """A client that reads nothing of many answers."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", port))
    client.sendall(b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n")
    assert client.recv(15) == b"HTTP/1.1 200 OK"
    return [client]


@pytest.mark.shim_only("nginx ends in its own way")
@pytest.mark.parametrize(
    ("connect", "most"), [(lambda port: [], 3.5), (half_a_request, 3.5), (kept_alive, 3.5), (download, 6)]
)
def test_it_ends_at_once_unless_a_client_waits_for_an_answer(
    store: str, tmp_path: Path, connect: Callable[[int], list[socket.socket]], most: float
) -> None:
    with Service(store, tmp_path / "state", "--drain", "4") as server:
        clients = connect(server.port)
        began = time.monotonic()
        server.process.terminate()
        server.process.wait(60)
        took = time.monotonic() - began
    assert took < most, clients


@pytest.mark.shim_only("ends processes of its own")
def test_a_worker_without_its_parent_ends_in_spite_of_half_a_request(store: str, tmp_path: Path) -> None:
    with Service(store, tmp_path / "state") as server:
        [worker], clients = server.workers(), half_a_request(server.port)
        server.process.kill()
        server.process.wait(60)
        until(lambda: not Path(f"/proc/{worker}").exists(), 10, f"it is gone with {clients}")


@pytest.mark.thorough
@pytest.mark.shim_only("nginx closes them after 30 seconds of its own")
def test_connections_that_send_nothing_are_closed(store: str, tmp_path: Path) -> None:
    with Service(store, tmp_path / "state", "--idle-timeout", "1") as server:
        for sent in (b"", ASK[:20]):
            with socket.create_connection(("127.0.0.1", server.port), 30) as client:
                client.sendall(sent)
                assert client.recv(100) == b"", "closed"
