"""`serve --guest-limit` answers without a key and counts each address; `--behind-cdn` lets a cache share answers."""

import time
from collections import Counter
from pathlib import Path

import pytest

from edge_auth.live.counter import guest_name
from generator.storage.stores.folder import FolderStore
from tests.support import small_store
from tests.support.programs import needs
from tests.support.service import API, Client, Service, until
from tests.support.shim_clients import WsgiClient

LIMIT = 9
THROUGH = [False, pytest.param(True, marks=needs("nginx with Lua"))]
pytestmark = [pytest.mark.shim_only("starts its own services"), pytest.mark.xdist_group("guests")]


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    store = FolderStore(str(tmp_path_factory.mktemp("guests")))
    small_store.add_build(store, 30)
    small_store.add_build(store)
    return store.location


@pytest.fixture
def client(location: str, tmp_path: Path) -> WsgiClient:
    return WsgiClient(location, str(tmp_path / "state"), 1000, guest_limit=LIMIT)


def start_of_minute() -> None:
    """Wait until a minute has begun, so that it does not end during a test."""
    until(lambda: time.time() % 60 < 30, 40, "a minute has time left")


@pytest.mark.parametrize(
    ("target", "method", "status", "code"),
    [
        ("cards?limit=1", "GET", 200, None),
        ("status", "GET", 200, None),
        ("watchlist", "GET", 200, None),
        ("changes", "GET", 200, None),
        ("me", "GET", 401, "unauthorized"),
        ("bulk", "GET", 403, "insufficient_scope"),
        ("bulk/x", "HEAD", 401, None),
        ("fingerprints", "GET", 403, "insufficient_scope"),
        ("cards?limit=0", "GET", 400, "invalid_parameter"),
        ("cards", "POST", 405, "method_not_allowed"),
        ("nowhere", "GET", 404, "not_found"),
    ],
)
def test_what_a_guest_may_ask(client: WsgiClient, target: str, method: str, status: int, code: str | None) -> None:
    answer = client.get(f"{API}/{target}", method, key=None)
    assert (answer.status, answer.code if code else None) == (status, code)
    assert ("X-RateLimit-Limit" in answer.headers) == (status not in (401, 404, 405))
    assert answer.headers.get("X-RateLimit-Limit", str(LIMIT)) == str(LIMIT)


def test_a_wrong_key_is_no_guest(client: WsgiClient, location: str, tmp_path: Path) -> None:
    for headers in ({"x_api_key": ""}, {"authorization": "Bearer x"}):
        assert client.get(f"{API}/cards", key=None, **headers).code == "invalid_api_key"
    assert client.get(f"{API}/cards", key=None, authorization="Basic x").status == 200
    closed = WsgiClient(location, str(tmp_path / "closed"), 1000)
    assert closed.get(f"{API}/cards", key=None).code == "unauthorized"


@pytest.mark.thorough
def test_guests_have_their_limit_by_address(client: WsgiClient) -> None:
    start_of_minute()
    ask = lambda remote: client.get(f"{API}/cards?limit=1", key=None, remote=remote).status  # noqa: E731
    for remote in ("10.0.0.1", "10.0.0.2", "2001:db8::1"):
        assert [ask(remote) for _ in range(LIMIT + 2)] == [200] * LIMIT + [429] * 2
    assert (ask("2001:db8::2"), ask("2001:db8:0:1::1")) == (429, 200), "the /64 of an address counts"
    assert ask("::ffff:10.0.0.1") == 429
    assert client.get(f"{API}/openapi.json", key=None, remote="10.0.0.1").headers["X-RateLimit-Limit"] == "120"
    assert client.get(f"{API}/cards?limit=1", remote="10.0.0.1").status == 200, "a key has a limit of its own"


@pytest.mark.parametrize("through", [False, THROUGH[1]])
@pytest.mark.thorough
def test_the_count_of_guests_is_exact_over_processes(location: str, tmp_path: Path, through: bool) -> None:
    limit, target = 120, f"{API}/cards?limit=7"
    with Service(
        Path(location), tmp_path / "state", "--guest-limit", str(limit), workers=2, through_nginx=through
    ) as one:
        client = Client(one.port)
        if through:
            until(lambda: client.get(target)["X-Cache"] == "HIT" or client.get(target).status == 429, 60, "a hit")
        second = int(time.time()) // 60
        until(lambda: int(time.time()) // 60 > second, 70, "a minute begins")
        answers = [client.get(target) for _ in range(limit + 5)]
        assert Counter(answer.status for answer in answers) == {200: limit, 429: 5}
        assert [int(answer["X-RateLimit-Remaining"]) for answer in answers[:3]] == [119, 118, 117]
        if through:
            assert sum(answer["X-Cache"] == "HIT" for answer in answers) > limit // 2, "nginx answers guests too"
            assert client.get(f"{API}/me").status == 401


def test_a_guest_name_is_that_of_nginx() -> None:
    assert guest_name("::ffff:1.2.3.4") == guest_name("1.2.3.4") == "guest 1.2.3.4"
    assert guest_name("2001:db8:0:7::9") == "guest 20010db800000007"


SHARED = {"Cache-Control": "public, no-cache", "Vary": "Accept-Encoding, X-Build"}
OWN = {"Cache-Control": "private, no-cache", "Vary": "Authorization, X-API-Key, Accept-Encoding, X-Build"}


@pytest.mark.parametrize("target", ["cards", "cards?q=e", "status", "watchlist", "fingerprints", "facets", "bulk"])
@pytest.mark.thorough
def test_a_cache_may_share_answers_that_it_asks_for(location: str, tmp_path: Path, target: str) -> None:
    shared = WsgiClient(location, str(tmp_path / "state"), 1000, behind_cdn=True)
    plain = WsgiClient(location, str(tmp_path / "plain"), 1000)
    found, usual = shared.get(f"{API}/{target}"), plain.get(f"{API}/{target}")
    assert {name: found.headers[name] for name in SHARED} == SHARED
    assert found.body == usual.body and found.headers["ETag"] == usual.headers["ETag"]
    again = shared.get(f"{API}/{target}", if_none_match=found.headers["ETag"])
    assert again.status == 304 and {name: again.headers[name] for name in SHARED} == SHARED
    refused = shared.get(f"{API}/{target}", key="cpm_live_" + "x" * 32)
    assert (refused.status, refused.headers["Cache-Control"]) == (401, "no-store")


def test_what_a_cache_may_not_share(location: str, tmp_path: Path) -> None:
    client = WsgiClient(location, str(tmp_path / "state"), 1000, behind_cdn=True)
    [step] = client.get(f"{API}/changes").json["data"]
    for target in (f"{API}/me", f"{API}/changes", step["url"]):
        answer = client.get(target)
        assert answer.status == 200 and {name: answer.headers[name] for name in OWN} == OWN
    file = client.get(f"{API}/bulk").json["files"][0]["name"]
    assert client.get(f"{API}/bulk/{file}").headers["Cache-Control"].startswith("private, ")
    assert client.get(f"{API}/cards?limit=0").headers["Cache-Control"] == "no-store"
