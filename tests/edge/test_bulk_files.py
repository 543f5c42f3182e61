"""Bulk files from inside: streams and their limits, damaged files, and files of builds that are not live."""

import shutil
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from edge_auth.api import bulk, responses
from edge_auth.errors import RateLimited
from edge_auth.live import bulk_files, slow_readers
from edge_auth.live.bulk_files import Holder
from generator.releases.prune import RetentionRules, prune
from generator.storage.builds import open_build
from generator.storage.stores import file_cache
from generator.storage.stores.folder import FolderStore
from tests.support import nights
from tests.support.service import until
from tests.support.shim_clients import WsgiClient

pytestmark = pytest.mark.shim_only("changes constants of the shim in this process")

BULK = "/api/v1/bulk"


@pytest.fixture(scope="module")
def three_builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with three builds; the newest is live, and a prune keeps the one before it."""
    folder = tmp_path_factory.mktemp("bulk")
    nights.published(folder, 5, 6, 7)
    return folder / "store"


@pytest.fixture
def client(three_builds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WsgiClient]:
    """A client of a copy of that store, in which nearly every body is a stream of several chunks."""
    monkeypatch.setattr(bulk, "MAX_READ_BYTES", 100)
    monkeypatch.setattr(bulk_files, "_CHUNK_BYTES", 1000)
    monkeypatch.setattr(bulk_files, "_LISTED_SECONDS", 0.0)
    shutil.copytree(three_builds, tmp_path / "store")
    return WsgiClient(str(tmp_path / "store"), str(tmp_path / "state"), 100_000)


def largest(client: WsgiClient) -> dict:
    return max(client.get(BULK).json["files"], key=lambda file: file["bytes"])


def begun(client: WsgiClient, file: dict) -> Iterator[bytes]:
    """The body of an answer, not read yet."""
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": file["url"], "QUERY_STRING": "", "HTTP_HOST": "localhost"}
    return client.app.wsgi_app(environ | {"HTTP_X_API_KEY": client.key}, lambda *_: None)


def path_of(client: WsgiClient, file: dict) -> Path:
    store = FolderStore(client.location)
    objects = [open_build(store, name[7:-5]).bulk_files.get(file["name"]) for name in store.list("builds/")]
    return next(store.root / found.object for found in objects if found)


def test_a_stream_is_the_file_or_a_part_of_it(client: WsgiClient) -> None:
    file = largest(client)
    content = path_of(client, file).read_bytes()
    assert len(content) > 5000
    assert client.get(file["url"]).body == content
    assert client.get(file["url"], RANGE="bytes=1500-4499").body == content[1500:4500]
    assert client.get(file["url"], method="HEAD").body == b""


def test_a_key_has_so_many_downloads_at_once(client: WsgiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_files, "_MAX_DOWNLOADS_OF_A_KEY", 2)
    file = largest(client)
    first, second = begun(client, file), begun(client, file)
    next(iter(first))
    refused = client.get(file["url"])
    assert (refused.status, refused.code) == (429, "rate_limited") and "Retry-After" in refused.headers
    assert "2 downloads of yours" in refused.message
    assert client.get("/api/v1/me").status == 200, "downloads hold no thread of requests"
    assert client.get(file["url"], RANGE="bytes=0-9").status == 206, "a small part is no download"
    first.close()
    second.close()
    first.close()
    assert client.get(file["url"]).status == 200


def test_guests_leave_places_for_keys(client: WsgiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three addresses take all that guests may have, and read nothing."""
    monkeypatch.setattr(responses, "MAX_READ_BYTES", 100)
    page = {"REQUEST_METHOD": "GET", "PATH_INFO": "/docs", "QUERY_STRING": "", "HTTP_HOST": "localhost"}
    statuses: list[str] = []

    def begin(address: str) -> Any:
        return client.app.wsgi_app(page | {"REMOTE_ADDR": address}, lambda status, _: statuses.append(status[:3]))

    held = [begin(f"192.0.2.{n}") for n in range(3) for _ in range(16)]
    assert Counter(statuses) == {"200": 12, "429": 36}
    assert client.get(largest(client)["url"]).status == 200
    held[0].close()
    begin("192.0.2.9")
    assert statuses[-1] == "200"


def test_a_damaged_file_is_a_failure(client: WsgiClient) -> None:
    for damage in (lambda data: data[:-1], lambda data: bytes([data[0] ^ 1]) + data[1:]):
        file = largest(client)
        path = path_of(client, file)
        good = path.read_bytes()
        path.write_bytes(damage(good))
        assert client.get(file["url"]).status == client.get(file["url"], RANGE="bytes=0-9").status == 500
        path.write_bytes(good)
        assert client.get(file["url"]).status == 200


@contextmanager
def unread(number: int) -> Iterator[None]:
    """Connections of this process to clients that read nothing."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=number))
        for _ in range(number):
            stack.enter_context(socket.create_connection(server.getsockname()))
            connection = stack.enter_context(server.accept()[0])
            connection.setblocking(False)
            while suppressed_send(connection):
                pass
        yield


def suppressed_send(connection: socket.socket) -> int:
    with suppress(BlockingIOError):
        return connection.send(bytes(1 << 20))
    return 0


@pytest.mark.parametrize("others", [0, 1])
def test_answers_that_are_not_read_are_bounded(
    client: WsgiClient, monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    monkeypatch.setattr(slow_readers, "MAX_UNREAD", 4)
    monkeypatch.setattr(slow_readers, "SMALL_BYTES", 10)
    monkeypatch.setattr(responses, "SMALL_BYTES", 10)
    file = largest(client)
    ask = lambda: client.get(file["url"], RANGE="bytes=0-99")  # noqa: E731
    assert {ask().status for _ in range(9)} == {206}, "who reads is not bounded"
    with unread(4 - others):
        *_, found = (ask() for _ in range(4))  # the kernel is asked once for so many answers
        assert found.status == (206 if others else 429) and (others or int(found["Retry-After"]) > 0)
        assert client.get("/api/v1/cards", remote="192.0.2.1").status == (200 if others else 429), "it is one key"
    assert ask().status == 206


def test_a_client_that_reads_too_slowly_is_ended() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        with server.accept()[0] as connection:
            connection.setblocking(False)
            while suppressed_send(connection):
                pass
            known = slow_readers.look({}, 0.0)
            assert len(known) == 1
            client.recv(100_000)
            known = slow_readers.look(known, slow_readers.SECONDS)
            assert list(known.values()) != [(0.0, 0)], "it has read"
            slow_readers.look(known, 10 * slow_readers.SECONDS)
            with pytest.raises(OSError, match="Broken pipe"):
                connection.send(b"x")
        with pytest.raises(ConnectionResetError):
            while client.recv(1 << 20):
                pass


def test_few_keys_leave_places_for_another() -> None:
    held: list[Holder] = []
    for number in range(5):
        for _ in range(48):
            holder = Holder(f"key {number}", f"192.0.2.{number}")
            with suppress(RateLimited):
                bulk_files._require_place(holder, held)
                held.append(holder)
    assert [sum(holder.key_id == f"key {number}" for holder in held) for number in range(5)] == [16, 16, 8, 4, 2]


def test_a_file_that_vanishes_while_it_is_live_is_a_failure(client: WsgiClient) -> None:
    file = largest(client)
    path_of(client, file).unlink()
    assert client.get(file["url"]).status == 500


def test_a_file_is_there_while_a_kept_build_lists_it(client: WsgiClient) -> None:
    store = FolderStore(client.location)
    lists = {name: open_build(store, name[7:-5]).bulk_files for name in store.list("builds/")}
    oldest, older, live = (set(lists[name]) for name in sorted(lists))
    [gone, *_] = sorted(oldest - older - live)
    assert client.get(f"{BULK}/{gone}").status == 200
    deleted = prune(
        store, RetentionRules(keep=1, grace=nights.timedelta(0)), wait=lambda _: None, clock=nights.in_hours(100)
    )
    assert len(deleted.builds) == 1
    assert client.get(f"{BULK}/{gone}").status == 404
    assert client.get(f"{BULK}/{sorted(live)[0]}").status == 200


def test_a_file_whose_hash_takes_long_is_hashed_once(
    three_builds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(three_builds, tmp_path / "store")
    client = WsgiClient(str(tmp_path / "store"), str(tmp_path / "state"), 100_000, store_seconds=0.2)
    digest, ended, hashed = file_cache.sha256_of, Event(), []

    def slow(path: Path) -> str:
        hashed.append(path)
        assert ended.wait(60)
        return digest(path)

    until(lambda: client.get("/healthz").status == 200, 60, "a build is open")
    file = largest(client)
    monkeypatch.setattr(file_cache, "sha256_of", slow)
    assert client.get(file["url"]).status == 500
    ended.set()
    until(lambda: client.get(file["url"]).status == 200, 60, "it is hashed")
    assert len(hashed) == 1
