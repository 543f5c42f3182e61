"""What nginx adds: hits without the shim, an exact limit, and what happens when the shim or a file is gone."""

import copy
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from edge_auth.live.counter import FileCounter
from edge_auth.live.places import counter_file
from generator.storage.keys import SCOPES, open_key_file
from generator.storage.keys import issue as new_key
from tests.support.commands import build, issue, run
from tests.support.copies import copy_of_fixed
from tests.support.lakes import FIXED, Rows, write
from tests.support.nginx import CARDS, LIMIT, cached
from tests.support.rate_limits import in_one_window
from tests.support.s3_proxy import ALWAYS, Proxy
from tests.support.s3_servers import S3Server
from tests.support.service import API, Client, HttpAnswer, Service, until, window_left

UNREAD = f"{API}/watchlist/charizard-base/history?view=weekly"
IN_FORCE = 5


@dataclass(frozen=True)
class CachedEdge:
    """A store with one live build, its key, and a shim of two workers behind nginx."""

    store: Path
    key: str
    service: Service

    def client(self) -> Client:
        return self.service.client(self.key)


@contextmanager
def started(folder: Path) -> Iterator[CachedEdge]:
    copy_of_fixed(folder / "store")
    key = issue(folder / "store")
    with Service(folder / "store", folder / "state", workers=2, through_nginx=True) as service:
        yield CachedEdge(folder / "store", key, service)


@pytest.fixture(scope="module")
def edge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CachedEdge]:
    """Start the edge of the tests that leave store and shim as they are."""
    with started(tmp_path_factory.mktemp("edge")) as edge:
        yield edge


@pytest.fixture
def own_edge(tmp_path: Path) -> Iterator[CachedEdge]:
    """Start an edge for a test that changes the store or the shim."""
    with started(tmp_path) as edge:
        yield edge


def test_a_repeated_request_does_not_reach_the_shim(edge: CachedEdge) -> None:
    client = edge.client()
    first = client.get(CARDS)
    cached(client)
    again = client.get(CARDS)
    assert (again.body, again["ETag"], again["X-Build"]) == (first.body, first["ETag"], first["X-Build"])
    assert {name.lower() for name in again.headers} == {name.lower() for name in first.headers}
    gzipped = client.get(CARDS, Accept_Encoding="gzip")
    assert (gzipped["Content-Encoding"], gzipped.json) == ("gzip", first.json)


def test_either_etag_is_accepted_from_the_cache(edge: CachedEdge) -> None:
    client = edge.client()
    tags = [client.get(CARDS, Accept_Encoding=coding)["ETag"] for coding in ("gzip", "identity")]
    cached(client)
    for tag in (*tags, f'"x", W/{tags[0]}', "*"):
        answer = client.get(CARDS, If_None_Match=tag)
        assert (answer.status, answer.body, answer["X-Build"] is not None) == (304, b"", True), tag
        assert window_left(answer)
    assert client.get(CARDS, If_None_Match='"x"').status == 200


def test_what_clients_only_ask_about_is_answered_too(edge: CachedEdge) -> None:
    """nginx keeps a 304 without having the body, and still sends the body to a client that needs it."""
    client = edge.client()
    first = client.get(UNREAD)
    tag = first["ETag"]
    until(lambda: client.get(UNREAD, If_None_Match=tag)["X-Cache"] == "HIT", LIMIT, "nginx knows the ETag")
    unchanged = client.get(UNREAD, If_None_Match=tag)
    assert (unchanged.status, unchanged.body, unchanged["ETag"]) == (304, b"", tag)
    full = client.get(UNREAD, If_None_Match='"x"')
    assert (full.status, full.body, full["X-Cache"]) == (200, first.body, "MISS")
    again = client.get(UNREAD)
    assert (again.status, again.body, again["X-Cache"]) == (200, first.body, "HIT")


def test_scopes_hold_for_what_is_cached(edge: CachedEdge) -> None:
    cached(edge.client())
    assert edge.service.client(issue(edge.store, "watchlist:read")).get(CARDS).code == "insufficient_scope"
    assert edge.service.client("cpm_live_" + "x" * 32).get(CARDS).code == "invalid_api_key"
    assert edge.service.client().get(CARDS).code == "unauthorized"


def test_the_limit_is_exact_over_nginx_and_the_shim_and_a_reload(edge: CachedEdge) -> None:
    """Hits are counted by nginx, misses and refusals by the shim, from many connections at once."""
    cached(edge.client())
    numbers = iter(range(10_000))

    def attempt() -> tuple[set[int], int]:
        limited = issue(edge.store, rate_limit=150)
        until(lambda: edge.service.client(limited).get(f"{API}/nothing").status == 404, LIMIT, "the shim answers")

        def send(_: int) -> list[tuple[int, int]]:
            client = edge.service.client(limited)
            targets = [CARDS, f"{API}/me", f"{API}/cards?offset={next(numbers)}", CARDS] * 6
            answers = [client.get(target) for target in targets]
            return [(answer.status, window_left(answer)[0]) for answer in answers]

        with ThreadPoolExecutor(12) as pool:
            sent = pool.map(send, range(12))
            edge.service.nginx.send_signal(signal.SIGHUP)
            answers = [pair for pairs in sent for pair in pairs]
        return {reset for _, reset in answers}, sum(status == 200 for status, _ in answers)

    assert in_one_window(attempt) == 150


@pytest.mark.thorough
def test_a_new_build_is_served_at_once_and_a_rollback_too(own_edge: CachedEdge, tmp_path: Path) -> None:
    client = own_edge.client()
    cached(client)
    old = client.get(CARDS)["X-Build"]
    new = build(write(renamed(), tmp_path / "new"), own_edge.store)
    until(lambda: client.get(CARDS)["X-Build"] == new, LIMIT, "the new build is served")
    until(lambda: all(client.get(CARDS)["X-Build"] == new for _ in range(20)), LIMIT, "by all processes")
    cached(client)
    assert all(card["name"].startswith("New ") for card in client.get(CARDS).json["data"])
    assert client.get(CARDS, X_Build=old)["X-Build"] == old
    run("rollback", "--store", own_edge.store)
    until(lambda: all(client.get(CARDS)["X-Build"] == old for _ in range(20)), LIMIT, "the old build is served")
    assert not client.get(CARDS).json["data"][0]["name"].startswith("New ")


def test_nginx_keeps_no_answer_of_a_build_that_it_does_not_expect(own_edge: CachedEdge, tmp_path: Path) -> None:
    """nginx is held at one build while the shim answers from the next one. Then the first is live again."""
    client, target = own_edge.client(), f"{API}/cards?limit=9"
    cached(client)
    right = client.get(target)
    new = build(write(renamed(), tmp_path / "new"), own_edge.store)
    [live] = own_edge.service.state.glob("live-*")

    def is_held() -> bool:
        live.write_text(right["X-Build"])
        return all(client.get(CARDS)["X-Build"] == right["X-Build"] for _ in range(20))

    until(lambda: client.get(f"{API}/status")["X-Build"] == new, LIMIT, "the shim is at the new build")
    until(is_held, LIMIT, "nginx is at the old one")
    others = [client.get(target) for _ in range(6)]
    assert {(answer["X-Build"], answer["X-Cache"]) for answer in others} == {(new, "MISS")}
    run("rollback", "--store", own_edge.store)
    until(lambda: all(client.get(target).body == right.body for _ in range(20)), 20, "the answers are the old ones")


def renamed() -> Rows:
    changed = copy.deepcopy(FIXED)
    for row in changed.products:
        row["name"] = f"New {row['name']}"
    return changed


@pytest.mark.thorough
def test_without_a_shim_what_is_cached_is_answered(own_edge: CachedEdge) -> None:
    client = own_edge.client()
    cached(client)
    workers = own_edge.service.workers()
    own_edge.service.process.kill()
    until(lambda: not any(Path(f"/proc/{pid}/stat").exists() for pid in workers), LIMIT, "all workers are gone")
    assert client.get(CARDS).status == 200
    gone = client.get(f"{API}/cards?limit=9")
    assert (gone.status, gone.code, gone["Retry-After"]) == (500, "internal_error", "5")
    own_edge.service.process.wait()
    own_edge.service.start_shim()  # the killed one has left its socket
    until(lambda: client.get(f"{API}/cards?limit=9").status == 200, LIMIT, "a new shim answers")


@pytest.mark.thorough
def test_key_records_that_cannot_be_read_stay_in_force(own_edge: CachedEdge) -> None:
    client = own_edge.client()
    cached(client)
    (own_edge.store / "private" / "keys.json").write_text("{")
    time.sleep(2)
    assert client.get(CARDS)["X-Cache"] == "HIT"


def test_a_change_of_a_key_is_soon_in_force(own_edge: CachedEdge) -> None:
    client = own_edge.client()
    cached(client)
    new = own_edge.service.client(issue(own_edge.store, rate_limit=50_000))
    assert new.get(CARDS)["X-RateLimit-Limit"] == "50000", "at once"
    id_ = new.get(f"{API}/me").json["id"]
    run("keys", "update", id_, "--store", own_edge.store, "--rate-limit", 70_000)
    until(lambda: new.get(CARDS)["X-RateLimit-Limit"] == "70000", IN_FORCE, "the new limit")
    run("keys", "revoke", id_, "--store", own_edge.store)
    until(lambda: new.get(CARDS).code == "revoked_api_key", IN_FORCE, "the key is off")
    cached(client)


RECORD = (
    b'{"name": "n", "prefix": "cpm_live_abcd", "scopes": ["cards:read"], "rate_limit": 100, '
    b'"created_at": "2026-01-01T00:00:00Z", "expires_at": null, "revoked": false}'
)
SPOILT = {
    "empty": b"",
    "cut": b"{",
    "list": b"[]",
    "deep": b"[" * 100_000,
    "scopes": b'{"scopes": 1}',
    "types": b'{"scopes": [[]], "revoked": false, "rate_limit": 1, "expires_at": {}}',
    "nameless": b'{"scopes": ["cards:read"], "revoked": false, "rate_limit": 100, "expires_at": null}',
    "limit": RECORD.replace(b"100", b"1" + b"0" * 300),
    "object": RECORD.replace(b'["cards:read"]', b'{"1": "cards:read"}'),
}


def test_a_broken_record_refuses_its_key_alone(own_edge: CachedEdge) -> None:
    client, file = own_edge.client(), open_key_file(str(own_edge.store))
    cached(client)
    own_edge.service.may_log_traces = True
    for name, data in SPOILT.items():
        key, record = new_key(name, SCOPES, 100, None, 0)
        file.add(record)
        (own_edge.store / file.object_of(record.sha256)).write_bytes(data)
        assert own_edge.service.client(key).get(CARDS).code == "internal_error", name
        cached(client)  # while the shim follows a change, it answers for nginx


def test_a_client_cannot_claim_to_be_counted(edge: CachedEdge) -> None:
    limited = edge.service.client(issue(edge.store, rate_limit=2))

    def attempt() -> tuple[set[int], list[int]]:
        answers = [limited.get(f"{API}/sets", X_Edge_Build="x") for _ in range(4)]
        return {window_left(answer)[0] for answer in answers}, [answer.status for answer in answers]

    assert in_one_window(attempt) == [200, 200, 429, 429]


@pytest.mark.parametrize(("minutes", "counts"), [(1, True), (2, True), (3, False), (59, False)])
def test_a_clock_that_was_ahead(edge: CachedEdge, minutes: int, counts: bool) -> None:
    """What was counted while the clock was far ahead is no use of the minutes until then."""
    client = edge.service.client(issue(edge.store, rate_limit=120))
    id_ = client.get(f"{API}/me").json["id"]
    cached(edge.client())
    counter = FileCounter(counter_file(str(edge.service.state), str(edge.store)), print)
    until(lambda: time.time() % 60 < 50, LIMIT, "the minute does not end meanwhile")
    ahead = time.time() + 60 * minutes
    before = [counter.hit(f"key {id_}", 120, ahead) for _ in range(97)][-1]
    answer = until(lambda: hit(client.get(CARDS)), LIMIT, "nginx answers")
    assert (window_left(answer)[0] == before.reset) == counts


def hit(answer: HttpAnswer) -> HttpAnswer | None:
    return answer if answer["X-Cache"] == "HIT" else None


@pytest.mark.thorough
def test_a_folder_that_is_gone(own_edge: CachedEdge) -> None:
    """A page that nginx has is answered, and one that no process has read is not."""
    client, store = own_edge.client(), own_edge.store
    cached(client)
    before = client.get(CARDS)
    aside = store.rename(store.with_name("aside"))
    until(lambda: client.get(UNREAD).status == 500, LIMIT, "the shim notices")
    failed, again = client.get(UNREAD), client.get(CARDS)
    assert (failed.code, failed["Retry-After"]) == ("internal_error", "5")
    assert (again.status, again.body, again["X-Cache"]) == (200, before.body, "HIT")
    assert client.get(CARDS, If_None_Match=before["ETag"]).status == 304
    aside.rename(store)
    until(lambda: client.get(UNREAD).status == 200, LIMIT, "the shim reads the store again")


@pytest.mark.thorough
def test_a_store_on_s3(server: S3Server, proxy: Proxy, tmp_path: Path) -> None:
    """nginx answers for a key that the shim has written down, and follows each change."""
    store = f"s3://{server.bucket()}/cards"
    live = copy_of_fixed(store)
    file, (key, record) = open_key_file(store), new_key("one", SCOPES, 1_000_000, None, 0)
    file.add(record)
    with Service(store, tmp_path / "state", through_nginx=True) as service:
        client = service.client(key)
        cached(client)
        [_] = (tmp_path / "state").glob(f"edge-*/{file.object_of(record.sha256)}")
        proxy.break_next("refuse", ALWAYS)
        assert (client.get(UNREAD).status, client.get(CARDS)["X-Cache"]) == (200, "HIT")
        proxy.break_next("", 0)
        assert client.get(CARDS)["X-Build"] == live
        run("keys", "update", record.id, "--store", store, "--rate-limit", 70_000)
        until(lambda: client.get(CARDS)["X-RateLimit-Limit"] == "70000", IN_FORCE, "the new limit")
        cached(client)
        run("keys", "revoke", record.id, "--store", store)
        until(lambda: client.get(CARDS).code == "revoked_api_key", IN_FORCE, "the key is off")


def test_only_its_user_reaches_the_shim(edge: CachedEdge) -> None:
    assert (edge.service.folder / "shim").stat().st_mode & 0o777 == 0o600


def test_serve_refuses_a_socket_together_with_redis(tmp_path: Path) -> None:
    more = ("--socket", tmp_path / "shim", "--rate-limit-url", "redis://127.0.0.1:1")
    assert "exclude each other" in run("serve", "--store", tmp_path, *more, status=1).stderr


def test_serve_refuses_a_socket_that_it_cannot_use(edge: CachedEdge, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    used = edge.service.folder / "shim"
    for place, reason in (
        (used, "another shim listens there"),
        (tmp_path / "file", "this file is no socket"),
        (tmp_path / "none" / "shim", f"there is no folder {tmp_path}/none"),
    ):
        stderr = run("serve", "--store", edge.store, "--socket", place, status=1).stderr
        assert f"cannot listen on {place}: {reason}" in stderr and len(stderr.splitlines()) == 1
    assert edge.service.client().get("/healthz").status == 200
