"""The counter over machines, against a real Redis server: exact, and what its failures cost."""

import subprocess
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
import redis

from edge_auth.live import redis_counter
from edge_auth.live.counter import FileCounter
from edge_auth.live.redis_counter import RedisCounter, plain_url
from generator.reading.counters import wrong_kind
from tests.edge.test_counters_and_keys import told
from tests.support.commands import run
from tests.support.ports import free_port
from tests.support.programs import needs
from tests.support.redis_server import RedisServer
from tests.support.service import until

pytestmark = needs("Redis")

NOW = 1_800_000_000.0 - 1_800_000_000 % 60
TIMEOUT_SECONDS = 0.4  # longer than the product's: a busy machine must not look like a failing server


@pytest.fixture(autouse=True)
def long_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_counter, "COUNTER_TIMEOUT_SECONDS", TIMEOUT_SECONDS)


class CountingShim:
    """A counter as one shim has it, what it said, and how many requests it counted on its machine alone.

    It looks at a server that failed once for each of the `seconds` that a test lets pass.
    """

    def __init__(self, url: str, machine: Path, store: str = "store"):
        self.messages, self.alone = [], 0
        self.seconds = threading.Semaphore(0)
        fallback = FileCounter(machine, self.messages.append)
        self.counter = RedisCounter(url, store, fallback, self.messages.append, self._fell_back, self.seconds.acquire)

    def _fell_back(self) -> None:
        self.alone += 1

    def hit(self, name: str, limit: int, now: float = NOW):
        return self.counter.hit(name, limit, now)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture
def own(tmp_path):
    """A server of the test's own, to be mistreated."""
    server = RedisServer(tmp_path)
    yield server
    server.kill()


def _hits(job) -> tuple[int, int]:
    url, machine, name, count = job
    shim = CountingShim(url, machine)
    return sum(shim.hit(name, 300).allowed for _ in range(count)), shim.alone


def test_eight_processes_of_two_machines_count_exactly(server, tmp_path):
    for attempt in range(5):
        jobs = [(server.url, tmp_path / f"machine-{n % 2}", f"key {attempt}", 100) for n in range(8)]
        with ProcessPoolExecutor(8) as pool:
            allowed, alone = map(sum, zip(*pool.map(_hits, jobs), strict=True))
        if not alone:  # this machine may be so busy that the server takes longer than the timeout
            break
    assert (allowed, alone) == (300, 0)
    assert not CountingShim(server.url, tmp_path / "c").hit(f"key {attempt}", 300).allowed
    assert CountingShim(server.url, tmp_path / "c").hit(f"key {attempt}", 301).allowed


def test_windows_limits_and_stores(server, tmp_path):
    first, second = int(NOW) + 60, int(NOW) + 120
    steps = [
        ("one", 2, NOW + 59.9, (2, 1, first, True)),
        ("one", 2, NOW + 60, (2, 1, second, True)),
        ("other", 2, NOW, (2, 1, first, True)),
        *(("one", 5, NOW + 60, (5, left, second, True)) for left in (3, 2, 1, 0)),
        ("one", 5, NOW + 60, (5, 0, second, False)),
        ("one", 3, NOW + 60, (3, 0, second, False)),
        ("one", 6, NOW + 60, (6, 0, second, True)),
    ]
    for attempt in range(5):
        names = {store: f"{store} {attempt}" for store in ("one", "other")}
        shims = {store: CountingShim(server.url, tmp_path / name, name) for store, name in names.items()}
        usages = [shims[store].hit("k", limit, now) for store, limit, now, _ in steps]
        if not any(shim.alone for shim in shims.values()):  # else the server was slower than the timeout
            break
    assert list(map(told, usages)) == [expected for *_, expected in steps]
    client = redis.Redis.from_url(server.url)
    lives = [client.ttl(name) for name in client.scan_iter(f"one {attempt}:[0-9]*")]
    assert len(lives) == 2
    assert all(60 < left <= 180 for left in lives)


def test_a_frozen_server_costs_its_timeout_once(own, tmp_path):
    shim = CountingShim(own.url, tmp_path / "c")
    assert shim.hit("k", 1000).remaining == 999
    own.freeze()
    try:
        began = time.monotonic()
        usages = [shim.hit("k", 1000).remaining for _ in range(200)]
        took = time.monotonic() - began
        assert TIMEOUT_SECONDS <= took < 20 * TIMEOUT_SECONDS  # the machine may be busy
        assert usages == list(range(998, 798, -1))  # the machine's own count, which goes on from the server's
        shim.seconds.release(2)
        until(lambda: shim.messages, 60, "it says so")
        assert (shim.alone, len(shim.messages)) == (200, 1)
    finally:
        own.thaw()
    recovers(shim)


def test_a_killed_server_comes_back_by_itself(own, tmp_path):
    shim = CountingShim(own.url, tmp_path / "c")
    assert shim.hit("k", 5).allowed
    assert not shim.hit("full", 0).allowed
    own.kill()
    assert [shim.hit("k", 4).allowed for _ in range(5)] == [True, True, True, False, False]
    assert not shim.hit("full", 0).allowed
    shim.seconds.release(2)
    assert not shim.hit("k", 4).allowed
    until(lambda: shim.messages, 60, "it says so")
    assert (shim.alone, len(shim.messages)) == (3, 1)
    assert told(shim.hit("k", 4, NOW + 60)) == (4, 3, int(NOW) + 120, True)
    own.start()
    recovers(shim)


def recovers(shim: CountingShim) -> None:
    """The server counts again; one message says so."""
    until(lambda: shared(shim), 60, "the server counts")
    assert len(shim.messages) == 2


def shared(shim: CountingShim) -> bool:
    """Whether the server counts three requests in a row; a second passes for the shim."""
    shim.seconds.release()
    alone, name = shim.alone, f"{time.monotonic()}"
    usages = [shim.hit(name, 2).allowed for _ in range(3)]
    return shim.alone == alone and usages == [True, True, False]


def test_a_server_that_may_not_be_written_is_no_counter(own, tmp_path):
    client = redis.Redis.from_url(own.url)
    client.replicaof("127.0.0.1", 1)
    shim = CountingShim(own.url, tmp_path / "c")
    shim.seconds.release(3)
    assert [shim.hit("k", 2).allowed for _ in range(3)] == [True, True, False]
    until(lambda: shim.messages, 60, "it says so")
    assert (shim.alone, len(shim.messages)) == (2, 1)
    client.replicaof("no", "one")
    recovers(shim)


def restart_empty(server: RedisServer, shim: CountingShim) -> None:
    server.kill()
    server.start()
    until(lambda: shared(shim), 60, "the server counts")


@pytest.mark.parametrize("loss", ["restarted", "flushed"])
def test_a_machine_gives_no_second_limit_after_its_server_was_emptied(own, tmp_path, loss):
    before, after = (CountingShim(own.url, tmp_path / "machine") for _ in range(2))
    assert [before.hit("key a", 120).allowed for _ in range(97)] == [True] * 97
    if loss == "restarted":
        restart_empty(own, before)
    else:
        redis.Redis.from_url(own.url).flushall()
    assert sum(after.hit("key a", 120).allowed for _ in range(120)) == 23


def test_requests_that_a_machine_counted_alone_are_not_forgotten(own, tmp_path):
    shim = CountingShim(own.url, tmp_path / "c")
    assert [shim.hit("key a", 10).remaining for _ in range(3)] == [9, 8, 7]
    own.kill()
    assert [shim.hit("key a", 10).remaining for _ in range(3)] == [6, 5, 4]
    own.start()
    until(lambda: shared(shim), 60, "the server counts")
    assert [shim.hit("key a", 10).allowed for _ in range(2)] == [True, True]
    own.kill()
    assert [shim.hit("key a", 10).allowed for _ in range(3)] == [True, True, False]


def test_sockets_and_passwords_and_their_messages(own, tmp_path):
    for url in (f"unix://{own.socket}?db=1", f"valkey://127.0.0.1:{own.port}/1"):
        shim = CountingShim(url, tmp_path / "c")
        until(lambda shim=shim: shared(shim), 60, "the server counts")
    redis.Redis.from_url(own.url).config_set("requirepass", "s3cret")
    good, bad = (CountingShim(own.url.replace("//", f"//:{word}@"), tmp_path / "d") for word in ("s3cret", "wr0ng"))
    until(lambda: shared(good), 60, "the server counts")
    assert bad.hit("k", 2).allowed
    assert bad.alone == 1
    until(lambda: bad.messages, 60, "it says so")
    assert "wr0ng" not in bad.messages[0]


@needs("openssl")
def test_tls(tmp_path):
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    made = ["-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *made]
    subprocess.run(command, check=True, capture_output=True)
    files = ["--tls-cert-file", str(certificate), "--tls-key-file", str(key), "--tls-ca-cert-file", str(certificate)]
    server = RedisServer(tmp_path, "--tls-port", "0", "--tls-auth-clients", "no", *files)
    try:
        redis.Redis.from_url(server.url).config_set("port", 0)
        redis.Redis(unix_socket_path=str(server.socket)).config_set("tls-port", server.port)
        url = f"rediss://127.0.0.1:{server.port}/0?ssl_ca_certs="
        trusting, strict = CountingShim(f"{url}{certificate}", tmp_path / "c"), CountingShim(url[:-14], tmp_path / "d")
        until(lambda: shared(trusting), 60, "the server counts")
        strict.hit("k", 2)
        assert strict.alone == 1
        until(lambda: strict.messages, 60, "it says so")
        assert "certificate" in strict.messages[0].lower()
    finally:
        server.kill()


@pytest.mark.parametrize(
    "url", ["", "localhost:6379", "http://x", "redis", "redis://:s3cret@x:notaport", "redis://x?odd=1"]
)
def test_what_is_no_url(url):
    with pytest.raises(ValueError, match="redis://host") as usages:
        plain_url(url)
    assert "s3cret" not in str(usages.value)


def test_a_cluster_is_refused_at_the_start_by_its_name(tmp_path):
    """Each of its servers refuses the counts of the others, so every shim would count alone."""
    cluster = RedisServer(tmp_path, "--cluster-enabled", "yes", "--cluster-port", str(free_port()))
    assert wrong_kind(cluster.url)
    try:
        for options in (["serve"], ["doctor"]):
            places = ["--store", tmp_path, "--state", tmp_path / "state", "--rate-limit-url", cluster.url]
            refused = run(*options, *places, status=1)
            assert f"127.0.0.1:{cluster.port} is a Redis Cluster" in refused.stderr + refused.stdout
    finally:
        cluster.kill()
    assert wrong_kind(cluster.url) is None, "a server that is down is waited for"
