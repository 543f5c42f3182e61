"""A large index of fingerprints: clients without gzip get it from a local file, whatever happens to the file."""

import gzip
import hashlib
import json
import shutil
import socket
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from generator.releases.publish import publish
from generator.storage.errors import StoreError
from generator.storage.stores.file_cache import FileCache
from generator.storage.stores.folder import FolderStore
from tests.support import small_store
from tests.support.lakes import write
from tests.support.nights import make
from tests.support.programs import needs
from tests.support.service import Service, issue
from tests.support.shim_clients import WsgiClient

pytestmark = [pytest.mark.xdist_group("large fingerprints"), pytest.mark.thorough]  # one process: they are built once
API = "/api/v1/fingerprints"
ENTRIES = 60_000  # 15 MB as JSON: more than the buffers of a connection hold


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the location of a store with a large index; tests change copies of it."""
    folder = tmp_path_factory.mktemp("large")
    rows = small_store.rows(small_store.products(20))
    values = {"art_d": "0" * 16, "card_p": "f" * 16, "colour": "a" * 96, "products": []}
    rows.fingerprints = [{"key": f"{n:06}", "art_p": f"{n:016x}", **values} for n in range(ENTRIES)]
    rows.recipe = {"version": "1", "image_url": "https://img.example/{key}.jpg"}
    store = FolderStore(str(folder / "store"))
    publish(store, make(write(rows, folder / "lake"), store), by_hand=True)
    return folder / "store"


@pytest.fixture
def store(large: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(large, tmp_path / "store"))


@pytest.fixture
def client(store: Path, tmp_path: Path) -> WsgiClient:
    return WsgiClient(str(store), str(tmp_path / "state"), 1000)


def right(store: Path) -> bytes:
    """Return the index as the store holds it."""
    [pack] = store.rglob("fingerprints/*/*.gz")
    return gzip.decompress(pack.read_bytes())


def test_plain_answers_need_no_inflating(store: Path, tmp_path: Path) -> None:
    expected, state = right(store), tmp_path / "state"
    with Service(store, state, workers=2, through_nginx=False) as service:
        client = service.client(issue(store))
        copy = state / "copies" / hashlib.sha256(expected).hexdigest()
        assert copy.read_bytes() == expected and copy.stat().st_mode & 0o777 == 0o600
        zipped = client.get(API, Accept_Encoding="gzip")
        [pack] = store.rglob("fingerprints/*/*.gz")
        pack.unlink()
        for _ in range(10):  # both workers
            plain = client.get(API)
            client.close()
            assert (plain.status, plain.body, plain["Content-Encoding"]) == (200, expected, None)
            assert plain["Content-Length"] == str(len(expected))
            assert client.get(API, If_None_Match=plain["ETag"] or "").status == 304
    assert json.loads(expected)["count"] == ENTRIES and gzip.decompress(zipped.body) == expected
    assert zipped["ETag"] == (plain["ETag"] or "")[:-1] + '-gzip"'
    changing = {"etag", "content-length", "content-encoding", "date"}
    same = [{n.lower(): v for n, v in answer.headers.items() if n.lower() not in changing | {"x-request-id"}}
            for answer in (plain, zipped)]  # fmt: skip
    assert same[0] == same[1]


@pytest.mark.shim_only("an application in this process")
def test_a_damaged_copy_is_replaced_and_a_lost_one_is_not_needed(
    store: Path, client: WsgiClient, tmp_path: Path
) -> None:
    expected = right(store)
    copy = tmp_path / "state" / "copies" / hashlib.sha256(expected).hexdigest()
    copy.write_bytes(b"x" * len(expected))
    client.reopen()
    assert client.get(API).body == expected == copy.read_bytes()
    copy.unlink()
    assert client.get(API).body == expected


@pytest.mark.shim_only("changes the shim in this process")
def test_a_full_disk_is_no_reason_to_fail(store: Path, client: WsgiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Path:
        raise StoreError("no space left")

    monkeypatch.setattr(FileCache, "add", full)
    client.reopen()
    assert client.get(API).body == right(store)


@needs("nginx with Lua")
@pytest.mark.shim_only("starts its own nginx")
def test_a_client_that_does_not_read_makes_no_other_wait_behind_nginx(store: Path, tmp_path: Path) -> None:
    """Equal requests wait for at most 2 seconds for one another; for an answer that is not kept they do not."""
    key = issue(store)
    with Service(store, tmp_path / "state", through_nginx=True) as service, socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", service.port))
        slow.sendall(f"GET {API} HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\n\r\n".encode())
        assert slow.recv(8) == b"HTTP/1.1"
        waited = []
        for _ in range(4):
            began = time.monotonic()
            with urlopen(Request(f"http://127.0.0.1:{service.port}{API}", headers={"X-API-Key": key})) as answer:
                waited.append(time.monotonic() - began)
                assert answer.status == 200
        assert sorted(waited)[2] < 1.5, waited


def head_of(port: int, key: str, connections: ExitStack) -> bytes:
    """Ask for the index and read no more than the head of the answer. The connection stays open."""
    connection = connections.enter_context(socket.socket())
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(60)
    connection.connect(("127.0.0.1", port))
    connection.sendall(f"GET {API} HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n".encode())
    return connection.recv(1000).partition(b"\r\n\r\n")[0]


@pytest.mark.parametrize("through_nginx", [False, True], ids=["shim", "nginx"])
def test_slow_readers_of_two_keys_leave_places_for_others(store: Path, tmp_path: Path, through_nginx: bool) -> None:
    """Each worker has bounds of a key, and nginx keeps no copies of what clients do not read."""
    keys = [issue(store) for _ in range(3)]
    with Service(store, tmp_path / "state", workers=1, through_nginx=through_nginx) as service, ExitStack() as slow:
        for key in keys[:2]:
            heads = [head_of(service.port, key, slow) for _ in range(24)]
            assert Counter(head.split()[1] for head in heads) == {b"200": 16, b"429": 8}
            assert all((b"\r\nretry-after:" in head.lower()) == (head.split()[1] == b"429") for head in heads)
        assert service.client(keys[2]).get(API).body == right(store)
        if service.folder:
            assert not [file for file in (service.folder / "proxy").rglob("*") if file.is_file()]
