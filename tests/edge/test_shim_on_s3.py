"""The shim on S3: what an answer costs there, and what it says while the store fails. The server is a real one."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from edge_auth.live import build_registry as library
from edge_auth.live import keyring
from edge_auth.live.background import Poller
from generator.reading.nginx_config import ReadFiles
from generator.storage.builds import Pointer, read_pointer
from generator.storage.keys import SCOPES, KeyFile, issue, open_key_file
from generator.storage.stores.folder import FolderStore
from generator.storage.stores.interface import Store
from generator.storage.stores.open import open_store
from tests.support import small_store
from tests.support.s3_fixtures import on_s3
from tests.support.s3_proxy import ALWAYS, Proxy
from tests.support.s3_servers import READER, SERVERS, S3Server, best
from tests.support.selection import mostly_thorough
from tests.support.service import HttpAnswer, until
from tests.support.shim_clients import WsgiClient

pytestmark = [*on_s3, pytest.mark.shim_only("counts requests and polls in this process"), pytest.mark.thorough]

API = "/api/v1/"
PRODUCTS = small_store.products()
CLOSED, OPEN = PRODUCTS[0]["id_product"], PRODUCTS[1]["id_product"]  # with and without a closed period
PATHS = [
    "me",
    "sets?q=b",
    "watchlist",
    "cards?q=pika&limit=100",
    "cards?limit=20",
    "cards?kind=single&sort=name&order=desc&limit=100",
    "identifiers",
    f"cards/{CLOSED}/identifiers",
    "watchlist/pikachu",
    "watchlist/raichu/history?view=weekly",
    "status",
    "fingerprints",
    "openapi.json",
    f"cards/{CLOSED}",
    f"cards/{CLOSED}?days=3",
    f"cards/{OPEN}",
]
LIMIT = 60  # seconds until a test fails; tests/api/test_access.py measures how soon a shim knows of a change
NOT_THERE = ("cards/99999", "watchlist/nothing", "cards?set=none")


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What each path says, from a store in a folder."""
    folder = tmp_path_factory.mktemp("right")
    small_store.add_build(FolderStore(str(folder / "store")))
    client = WsgiClient(str(folder / "store"), str(folder / "state"), 10_000)
    answers = {path: client.get(API + path) for path in PATHS}
    assert {answer.status for answer in answers.values()} == {200}
    return {path: answer.body for path, answer in answers.items() if path != "me"}


@pytest.fixture(scope="module")
def built(servers: Callable) -> str:
    """A store with a live build, for tests that only read it."""
    server = servers(best())
    with pytest.MonkeyPatch.context() as patch:
        return written(server, patch).location


@pytest.fixture
def store(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store of the test's own with a live build, past the proxy."""
    return written(server, monkeypatch)


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the shims of this process poll pointer and keys so often that no test waits for them."""
    for module in (keyring, library):
        monkeypatch.setattr(module, "Poller", lambda poll, *_: Poller(poll, 0.2))


@pytest.fixture
def client(store: Store, proxy: Proxy, tmp_path: Path, often: None) -> WsgiClient:
    """Of a shim that reads through the proxy, has come up, and was not asked anything yet."""
    return ready(store.location, tmp_path)


def written(server: S3Server, patch: pytest.MonkeyPatch) -> Store:
    server.enter(patch)
    store = open_store(f"s3://{server.bucket()}/out")
    small_store.add_build(store)
    return store


def ready(location: str, folder: Path, store_seconds: float = 30) -> WsgiClient:
    client = WsgiClient(location, str(folder / "state"), 1_000_000, store_seconds=store_seconds)
    return until_ready(client)


def until_ready(client: WsgiClient) -> WsgiClient:
    """Wait until the shim has read pointer and keys: a request before waits for them only a second."""
    until(lambda: client.get("/healthz").status == 200, LIMIT, "it is ready")
    return client


@contextmanager
def object_requests(proxy: Proxy) -> Iterator[list[str]]:
    """The requests for objects of a build that are made meanwhile; looks at pointer and keys are not among them."""
    seen, made = len(proxy.requests), []
    yield made
    made += [line for line in proxy.requests[seen:] if "/layers/" in line]


@pytest.mark.parametrize("server", mostly_thorough(SERVERS), indirect=True)
def test_no_answer_costs_a_request(client: WsgiClient, proxy: Proxy, right: dict[str, bytes]) -> None:
    with object_requests(proxy) as made:
        answers = {path: client.get(API + path) for path in PATHS}
        assert [client.get(API + path).status for path in NOT_THERE] == [404, 404, 404]
    assert made == []
    assert {answer.status for answer in answers.values()} == {200}
    assert {path: answers[path].body for path in right} == right


def honest(answer: HttpAnswer) -> bool:
    """Whether an answer is the refusal that a failing store calls for."""
    return (answer.status, answer.code) == (500, "internal_error") and int(answer.headers["Retry-After"]) > 0


FAULTS = ("refuse", "reset", "truncate", "slowdown", "deny", "hang")


@pytest.mark.parametrize("fault", mostly_thorough(FAULTS, "hang"))
def test_a_store_that_fails_only_keeps_newer_builds_away(
    store: Store, proxy: Proxy, right: dict[str, bytes], tmp_path: Path, often: None, fault: str
) -> None:
    """So it is after a restart, too."""
    reader = ready(store.location, tmp_path, store_seconds=1.5)
    assert reader.get(f"{API}me").status == 200
    proxy.break_next(fault, ALWAYS)
    for restarted in (False, True):
        if restarted:
            reader.reopen()
            until(lambda: reader.get(f"{API}cards/{OPEN}").status == 200, LIMIT, "it has its copies")
        assert {path: reader.get(API + path).body for path in right} == right
        assert [reader.get(API + path).status for path in NOT_THERE] == [404, 404, 404]
        until(lambda: reader.get("/healthz").json.get("store") == "failing", LIMIT, "it says so")
        assert honest(reader.get(f"{API}cards", x_build="2020-01-01-0123456789ab"))
    proxy.break_next("", 0)
    new = small_store.add_build(store, 50)
    until(lambda: reader.get(f"{API}cards").headers["X-Build"] == new, LIMIT, "it follows")
    until(lambda: reader.get("/healthz").json["store"] == "ok", LIMIT, "the store is well")


def test_shims_of_one_store_with_other_keys_share_no_copies(server: S3Server, tmp_path: Path, often: None) -> None:
    store, state, bucket = str(tmp_path / "store"), str(tmp_path / "state"), f"s3://{server.bucket()}"
    small_store.add_build(FolderStore(store))
    places, issued = (f"{bucket}/one", f"{bucket}/other"), []
    for place in places:
        key, record = issue("n", SCOPES, 1_000, None, 0)
        open_key_file(store, place).add(record)
        issued.append((key, record))
    shims = [until_ready(WsgiClient(store, state, 1_000, keys=place)) for place in places]
    for number, (key, record) in enumerate(issued):
        assert shims[number].get(f"{API}me", key=key).status == 200
        assert shims[1 - number].get(f"{API}me", key=key).status == 401
        list_of_nginx = ReadFiles.of(store, places[number], state, None).keys
        copies = KeyFile(FolderStore(str(list_of_nginx.parent)), list_of_nginx.name)
        assert copies.hashes() == [record.sha256]


def test_a_shim_that_starts_without_its_store(
    server: S3Server, built: str, proxy: Proxy, tmp_path: Path, right: dict, often: None
) -> None:
    client = WsgiClient(built, str(tmp_path / "state"), 1_000_000, store_seconds=1.5)
    shutil.rmtree(tmp_path / "state", ignore_errors=True)
    proxy.break_next("refuse", ALWAYS)
    client.reopen()
    assert (client.get("/healthz").status, client.get("/healthz?live").status) == (503, 200)
    assert honest(client.get(f"{API}me"))
    proxy.break_next("", 0)
    until(lambda: client.get(f"{API}cards?limit=20").body == right["cards?limit=20"], LIMIT, "it serves")
    assert client.get("/healthz").status == 200


def test_a_new_build_that_cannot_be_read_does_not_answer(client: WsgiClient, store: Store) -> None:
    old = read_pointer(store)[0].build
    before = set(store.list("layers/catalogue/"))
    new = small_store.add_build(store, 50, live=False)
    # Its rows lie in the largest file, whatever the format calls it.
    rows = max(set(store.list("layers/catalogue/")) - before, key=store.stat)
    data = store.get(rows)
    store.put(rows, b"x" * len(data))
    store.put("current.json", Pointer(new).to_bytes())
    until(lambda: f"build {old} stays live" in client.log, LIMIT, "it says that it does not follow")
    assert client.get(f"{API}cards?q=pika").headers["X-Build"] == old
    store.put(rows, data)
    until(lambda: client.get(f"{API}cards?q=pika").headers["X-Build"] == new, LIMIT, "it follows")


def test_a_reader_without_the_right_to_list(servers: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S3 denies such a one what is not there: a failure, and the log says at the start what to grant."""
    ceph = servers("ceph")
    ceph.enter(monkeypatch)
    bucket = ceph.bucket()
    store = open_store(f"s3://{bucket}/out")
    small_store.add_build(store)
    client = WsgiClient(store.location, str(tmp_path / "state"), 1_000_000)
    allowed = f'"Action": "s3:GetObject", "Resource": "arn:aws:s3:::{bucket}/*"'
    who = f'"Effect": "Allow", "Principal": {{"AWS": ["arn:aws:iam:::user/{READER}"]}}'
    policy = f'{{"Version": "2012-10-17", "Statement": [{{{who}, {allowed}}}]}}'
    ceph.client().put_bucket_policy(Bucket=bucket, Policy=policy)
    assert "s3:ListBucket" not in client.log
    ceph.enter(monkeypatch, READER)
    client.reopen()
    assert until_ready(client).get(f"{API}cards?q=pika").status == 200
    until(lambda: "s3:ListBucket" in client.log, LIMIT, "the log says what is missing")
    assert client.get(f"{API}cards/99999").status == 404
    assert honest(client.get(f"{API}cards", x_build="2020-01-01-0123456789ab"))
