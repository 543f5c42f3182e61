"""The shim on S3: what an answer costs there, and what it says while the store fails. The server is a real one."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import Event

import pytest

from edge_auth.builds import layout
from edge_auth.builds.pointer import Pointer, read_pointer
from edge_auth.errors import StoreError
from edge_auth.live import build_registry as library
from edge_auth.live import keyring
from edge_auth.live.key_file import open_key_file
from edge_auth.live.keys import SCOPES, issue
from edge_auth.live.poller import Poller
from edge_auth.live.waiting import SingleFlight
from edge_auth.store.file_cache import FileCache
from edge_auth.store.folder import FolderStore
from edge_auth.store.interface import Store
from edge_auth.store.open import open_store
from tests.support import small_store
from tests.support.programs import require
from tests.support.s3_fixtures import on_s3
from tests.support.s3_proxy import ALWAYS, Proxy
from tests.support.s3_servers import READER, SERVERS, S3Server, best
from tests.support.selection import mostly_thorough
from tests.support.service import until
from tests.support.wsgi import Response, WsgiClient

pytestmark = [*on_s3, pytest.mark.shim_only("counts requests and polls in this process"), pytest.mark.thorough]

API = "/api/v1/"
PRODUCTS = small_store.products()
CLOSED, OPEN = PRODUCTS[0]["id_product"], PRODUCTS[1]["id_product"]  # with and without a closed period
# Requests, and the most requests for objects that each may cost.
COSTS = {
    "me": 0,
    "sets?q=b": 0,
    "watchlist": 0,
    "cards?q=pika&limit=100": 0,
    "cards?rarity=rare&sort=low&order=asc&offset=7": 0,
    "cards?limit=20": 0,
    "cards?sort=low&offset=70&limit=60": 0,
    "cards?kind=single&sort=name&order=desc&limit=100": 0,
    "identifiers": 0,
    f"identifiers/tcgplayer?values=x,{CLOSED}": 0,
    f"cards/{CLOSED}/identifiers": 0,
    "watchlist/pikachu": 1,
    "watchlist/pikachu/offers": 1,
    "watchlist/raichu/history?view=weekly": 1,
    "status": 1,
    "fingerprints": 1,
    "openapi.json": 1,
    f"cards/{CLOSED}": 2,
    f"cards/{CLOSED}?days=3": 1,
    f"cards/{OPEN}": 1,
}
LIMIT = 60  # seconds until a test fails; tests/api/test_access.py measures how soon a shim knows of a change
NOT_THERE = ("cards/99999", "watchlist/nothing", "cards?set=none")


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What each path says, from a store in a folder."""
    folder = tmp_path_factory.mktemp("right")
    small_store.add_build(FolderStore(str(folder / "store")))
    client = WsgiClient(str(folder / "store"), str(folder / "state"), 10_000)
    answers = {path: client.get(API + path) for path in COSTS}
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
        monkeypatch.setattr(module, "Poller", lambda poll, interval: Poller(poll, 0.2))


@pytest.fixture
def reader(server: S3Server, built: str, proxy: Proxy, tmp_path: Path, often: None) -> WsgiClient:
    """Of a shim that reads through the proxy, has come up, and was not asked anything yet."""
    return ready(built, tmp_path)


@pytest.fixture
def client(store: Store, proxy: Proxy, tmp_path: Path, often: None) -> WsgiClient:
    """The same over a store of the test's own."""
    return ready(store.location, tmp_path)


def written(server: S3Server, patch: pytest.MonkeyPatch) -> Store:
    for name, value in server.environment().items():
        patch.setenv(name, value)
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
def test_what_an_answer_costs(client: WsgiClient, proxy: Proxy, right: dict[str, bytes]) -> None:
    costs, warm = {}, {}
    for path in COSTS:
        for found in (costs, warm):
            with object_requests(proxy) as made:
                answer = client.get(API + path)
            assert answer.status == 200
            assert path == "me" or answer.body == right[path]
            found[path] = len(made)
    assert [path for path in COSTS if costs[path] > COSTS[path]] == []
    assert costs["fingerprints"] == 1  # that requests are seen at all
    assert set(warm.values()) == {0}
    with object_requests(proxy) as made:
        assert [client.get(API + path).status for path in NOT_THERE] == [404, 404, 404]
    assert made == []


def test_a_restart_fetches_nothing_again(
    reader: WsgiClient, proxy: Proxy, right: dict[str, bytes], tmp_path: Path
) -> None:
    copies = [path for path in (tmp_path / "state" / "copies").iterdir() if not path.name.startswith(".")]
    largest = max(copies, key=lambda path: path.stat().st_size)
    for damaged in (False, True):
        if damaged:
            largest.write_bytes(b"x" * largest.stat().st_size)
        with object_requests(proxy) as made:
            reader.reopen()
            until_ready(reader)
            assert reader.get(f"{API}cards?q=pika&limit=100").body == right["cards?q=pika&limit=100"]
        whole = [line for line in made if line.startswith("GET")]
        assert len(whole) <= 3 + damaged, whole  # sets, watchlist and games are pages, of which no copies are kept
        assert any(".gz" in line or ".arrow" in line for line in whole) or not damaged


def test_many_requests_for_one_object_make_one_request_to_s3(
    built: str, proxy: Proxy, tmp_path: Path, right: dict[str, bytes]
) -> None:
    reader = ready(built, tmp_path)
    proxy.latency = 2
    proxy.break_next("delay", ALWAYS)
    proxy.spans.clear()
    path = f"cards/{CLOSED}"
    with object_requests(proxy) as made, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: reader.get(API + path), range(8)))
    first, second = (span for span in proxy.spans if "/layers/" in span.request)
    assert first.begun < second.ended and second.begun < first.ended  # both ranges were read at the same time
    assert {(answer.status, answer.body) for answer in answers} == {(200, right[path])}
    assert len(made) == COSTS[path]


def test_a_read_without_a_waiting_request_is_not_begun() -> None:
    """A store that hangs takes all threads; what queued up behind them must not be in the way when it is back."""
    flights, back, begun, jobs = SingleFlight(seconds=0.5), Event(), [], 100

    def fetch() -> None:
        begun.append(1)
        back.wait(30)

    with pytest.raises(StoreError, match="not answered"):
        flights.get(dict.fromkeys(range(jobs), fetch))
    under_way = len(begun)
    back.set()
    assert flights.run("run", lambda: "however long it takes") == "however long it takes"
    assert len(begun) == under_way < jobs

    def fetched() -> bool:
        with suppress(StoreError):  # after a failure one request a second tries the store
            return flights.get({"next": lambda: "fetched"}) == ["fetched"]
        return False

    until(fetched, LIMIT, "the next request is answered")


def test_connections_to_the_store_are_kept(server: S3Server, built: str, tmp_path: Path) -> None:
    require("Ceph")  # moto ends each connection after its answer
    reader, port = ready(built, tmp_path), int(server.endpoint.rpartition(":")[2])
    before = connections(port)
    assert {reader.get(f"{API}cards/{product['id_product']}").status for product in PRODUCTS[:40]} == {200}
    assert connections(port) - before <= 8


def connections(port: int) -> int:
    """How many ends of connections to a port of this machine are open or were closed just now."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return sum(end.endswith(f":{port:04X}") for line in lines for end in line.split()[1:3])


def honest(answer: Response) -> bool:
    """Whether an answer is the refusal that a failing store calls for."""
    return (answer.status, answer.code) == (500, "internal_error") and int(answer.headers["Retry-After"]) > 0


FAULTS = ("refuse", "reset", "truncate", "slowdown", "deny", "flip", "hang", "late")


@pytest.mark.parametrize("fault", mostly_thorough(FAULTS, "flip"))
def test_what_is_at_hand_is_answered_and_the_rest_refused(
    built: str, proxy: Proxy, right: dict[str, bytes], tmp_path: Path, often: None, fault: str
) -> None:
    reader = ready(built, tmp_path, store_seconds=1.5)
    warm = [path for path in right if COSTS[path] == 0] + ["status", f"cards/{OPEN}"]
    cold = [path for path in right if path not in warm]
    for path in warm[-2:]:
        until(lambda path=path: reader.get(API + path).body == right[path], LIMIT, f"a right {path}")
    proxy.latency = 10
    proxy.break_next("delay" if fault == "late" else fault, ALWAYS)
    took = []
    for path in cold:
        begun = time.monotonic()
        assert honest(reader.get(API + path)), path
        took.append(time.monotonic() - begun)
        for known in warm:
            assert reader.get(API + known).body == right[known]
    # The first ones wait to the end, 1.2 seconds and more; then few a second do, and the others fail at once.
    assert min(took) < 1 and max(took) < 9
    assert [reader.get(API + path).status for path in NOT_THERE] == [404, 404, 404]
    until(
        lambda: reader.get("/healthz").json() | {"build": ""} == {"status": "ok", "build": "", "store": "failing"},
        LIMIT,
        "it says so",
    )
    proxy.break_next("", 0)
    for path in cold:
        until(lambda path=path: reader.get(API + path).body == right[path], LIMIT, f"a right {path}")
    until(lambda: reader.get("/healthz").json()["store"] == "ok", LIMIT, "the store is well")


def test_spoilt_answers_cost_their_share(client: WsgiClient, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bit is flipped in every fourth object: a request fails only if it read one, and no other because of it."""
    take, numbers, spoilt = proxy._take, count(), []

    def spoil(line: str) -> str:
        fault = take(line)
        if "/layers/" in line and next(numbers) % 4 == 0:
            spoilt.append(line)
            return "flip"
        return fault

    paths = [f"{API}cards/{product['id_product']}" for product in PRODUCTS[:120]]
    monkeypatch.setattr(proxy, "_take", spoil)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(client.get, paths))
    monkeypatch.undo()
    failed = [answer for answer in answers if answer.status != 200]
    assert spoilt and len(failed) <= len(spoilt) and all(map(honest, failed))
    assert "too slow" not in client.log
    for path, answer in zip(paths, answers, strict=True):
        right = client.get(path)
        assert right.status == 200 and (answer.status != 200 or answer.body == right.body)


def test_a_store_that_throttles_costs_time_and_hardly_an_answer(built: str, proxy: Proxy, tmp_path: Path) -> None:
    """It answers 16 of 37 reads 429."""
    reader = ready(built, tmp_path, store_seconds=20)  # a busy machine is slow too
    proxy.break_next("throttle", ALWAYS)
    paths = [f"{API}cards/{product['id_product']}" for product in PRODUCTS[:174]]
    with object_requests(proxy) as made, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(reader.get, paths))
    assert len(made) > 1.4 * len(paths)  # that reads were refused at all
    failed = [answer for answer in answers if answer.status != 200]
    assert len(failed) <= 5 and all(map(honest, failed))


def test_a_shim_that_starts_without_its_store(
    server: S3Server, built: str, proxy: Proxy, tmp_path: Path, right: dict, often: None
) -> None:
    client = WsgiClient(built, str(tmp_path / "state"), 1_000_000, store_seconds=1.5)
    proxy.break_next("refuse", ALWAYS)
    client.reopen()
    assert (client.get("/healthz").status, client.get("/healthz?live").status) == (503, 200)
    assert honest(client.get(f"{API}me"))
    proxy.break_next("", 0)
    until(lambda: client.get(f"{API}cards?limit=20").body == right["cards?limit=20"], LIMIT, "it serves")
    assert client.get("/healthz").status == 200


def test_a_build_switch_loses_no_request(client: WsgiClient, store: Store) -> None:
    old = read_pointer(store)[0].build
    new = small_store.add_build(store, 50, live=False)
    products = {old: len(PRODUCTS), new: 50}
    ended, seen = Event(), []

    def ask(number: int) -> None:
        while not ended.is_set():
            status = client.get(f"{API}status")
            found = client.get(f"{API}cards?q=&rarity=rare&sort=low&offset={number}&limit=1")
            assert (status.status, found.status) == (200, 200)
            assert status.json()["build"]["id"] == status.headers["X-Build"]
            assert status.json()["catalogue"]["products"] == products[status.headers["X-Build"]]
            seen.append(status.headers["X-Build"])

    with ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(ask, number) for number in range(2)]
        try:
            for live in (new, old, new):
                store.put("current.json", Pointer(live).to_bytes())
                until(lambda live=live: seen and seen[-1] == live, LIMIT, "the other build answers")
        finally:
            ended.set()
        for each in asking:
            each.result()
    assert set(seen) == {old, new}


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


def test_a_pinned_build(client: WsgiClient, store: Store, proxy: Proxy) -> None:
    old = read_pointer(store)[0].build
    new = small_store.add_build(store, 50)
    assert client.get(f"{API}cards?q=pika", x_build=new).headers["X-Build"] == new
    until(lambda: client.get(f"{API}cards?q=pika").headers["X-Build"] == new, LIMIT, "it follows")
    with object_requests(proxy) as made:
        assert client.get(f"{API}cards?q=e", x_build=old).headers["X-Build"] == old
    assert made == []  # a crawl that goes on with the old build costs nothing more
    assert client.get(f"{API}cards", x_build="2020-01-01-0123456789ab").code == "invalid_parameter"
    store.delete([layout.record_name(old)])
    until(lambda: client.get(f"{API}cards", x_build=old).status == 400, LIMIT, "it is not kept any more")


def test_keys_in_every_shim(store: Store, tmp_path: Path) -> None:
    """A change is soon in force everywhere, and going back to an older build does not undo it."""
    client, other = (WsgiClient(store.location, str(tmp_path / name), 1_000_000) for name in ("one", "other"))
    key, record = issue("a partner", SCOPES, 100, None, 0)
    file = open_key_file(store.location)
    file.add(record)
    for shim in (client, other):
        until(lambda shim=shim: shim.get(f"{API}me", key=key).status == 200, LIMIT, "the key is in force")
    file.update(record.id, rate_limit=200)
    for shim in (client, other):
        until(lambda shim=shim: shim.get(f"{API}me", key=key).json()["rate_limit"] == 200, LIMIT, "the new limit")
    old = read_pointer(store)[0].build
    small_store.add_build(store, 50)
    file.update(record.id, revoked=True)
    for shim in (client, other):
        until(lambda shim=shim: shim.get(f"{API}me", key=key).status == 401, LIMIT, "the key is off")
    store.put("current.json", Pointer(old).to_bytes())
    client.reopen()
    # A new shim refuses every key until a store that answers slowly has sent the key records.
    until(lambda: client.get(f"{API}status", key=key).code == "revoked_api_key", LIMIT, "the key is still off")
    assert client.get(f"{API}status").headers["X-Build"] == old


def test_keys_that_were_used_stay_in_force_without_the_store(
    store: Store, proxy: Proxy, tmp_path: Path, often: None
) -> None:
    """Also in a shim that starts meanwhile. A key that was not used here before is 500, and never 401."""
    client = ready(store.location, tmp_path, store_seconds=1.5)
    until(lambda: client.get(f"{API}me").status == 200, LIMIT, "the key is read")
    proxy.break_next("deny", ALWAYS)
    until(lambda: "stay in force" in client.log, LIMIT, "it says so")
    assert client.get(f"{API}me").status == 200
    assert honest(client.get(f"{API}me", key="cpm_live_" + "x" * 32))
    proxy.break_next("", 0)
    until(lambda: client.get(f"{API}me", key="cpm_live_" + "x" * 32).status == 401, LIMIT, "it reads again")


def test_a_reader_without_the_right_to_list(servers: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S3 denies such a one what is not there: a failure, and the log says at the start what to grant."""
    ceph = servers("ceph")
    for name, value in ceph.environment().items():
        monkeypatch.setenv(name, value)
    bucket = ceph.bucket()
    store = open_store(f"s3://{bucket}/out")
    small_store.add_build(store)
    client = WsgiClient(store.location, str(tmp_path / "state"), 1_000_000)
    allowed = f'"Action": "s3:GetObject", "Resource": "arn:aws:s3:::{bucket}/*"'
    who = f'"Effect": "Allow", "Principal": {{"AWS": ["arn:aws:iam:::user/{READER}"]}}'
    policy = f'{{"Version": "2012-10-17", "Statement": [{{{who}, {allowed}}}]}}'
    ceph.client().put_bucket_policy(Bucket=bucket, Policy=policy)
    assert "s3:ListBucket" not in client.log
    for name, value in ceph.environment(READER).items():
        monkeypatch.setenv(name, value)
    client.reopen()
    assert until_ready(client).get(f"{API}cards?q=pika").status == 200
    until(lambda: "s3:ListBucket" in client.log, LIMIT, "the log says what is missing")
    assert client.get(f"{API}cards/99999").status == 404
    assert honest(client.get(f"{API}cards", x_build="2020-01-01-0123456789ab"))


def test_copies_are_bounded_and_fetched_once(store: Store, proxy: Proxy, tmp_path: Path) -> None:
    near = open_store(store.location)
    store.put("a", b"1" * 100)
    store.put("b", b"2" * 100)
    copies = FileCache(tmp_path / "copies", max_bytes=150)
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(lambda _: copies.path(near, "a"), range(4)))
    assert len({*paths}) == 1
    assert sum(line.startswith("GET") for line in proxy.requests) == 1
    assert copies.path(near, "b").read_bytes() == b"2" * 100
    assert not paths[0].exists()
    (tmp_path / "taken").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot write a local copy"):
        FileCache(tmp_path / "taken").path(near, "a")
