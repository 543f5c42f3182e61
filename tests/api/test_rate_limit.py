"""Fixed windows of one minute, counted exactly: over threads, workers, shims and restarts.

No test waits for a minute to begin. Where a minute may end within a test, either enough requests are sent to
fill one window of the two, or the few that must share a window are sent again.
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import pytest

from tests.support.commands import run
from tests.support.rate_limits import assert_exact, flood, in_one_window
from tests.support.service import Client, HttpAnswer, Service, until, window_left

API = "/api/v1"
pytestmark = pytest.mark.xdist_group("rate limit")  # one process: the shim is started once
DESCRIPTION = f"{API}/openapi.json"
T = TypeVar("T")


@pytest.fixture(scope="module")
def service(fixed_store: Path, keys: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Two workers behind a proxy of this machine."""
    state = tmp_path_factory.mktemp("limits") / "state"
    with Service(fixed_store, state, "--trusted-proxy", "127.0.0.1/32", workers=2) as service:
        yield service


def test_exactly_the_limit_over_workers_and_threads(service: Service, keys: dict[str, str]) -> None:
    assert_exact(flood(lambda: service.client(keys["for a flood"]), f"{API}/me", threads=8, each=25), 60)


@pytest.mark.parametrize("name", ["X_Forwarded_For", "X-Forwarded-For"])
def test_without_a_proxy_no_header_names_the_client(fixed_store: Path, tmp_path: Path, name: str) -> None:
    with Service(fixed_store, tmp_path / "state", "--guest-limit", "3") as alone:
        client = alone.client(None)
        got = [client.send("GET", f"{API}/sets", {name: f"10.0.0.{number}"}).status for number in range(20)]
    assert got.count(429) >= 14, "at most two minutes"


@pytest.mark.shim_only("nginx drops such headers")
def test_the_shim_says_what_its_proxy_must_drop(service: Service) -> None:
    until(lambda: "names contain underscores" in service.log.read_text(), 10, "the note")


@pytest.mark.parametrize(
    ("method", "path", "headers", "counts"),
    [
        ("GET", "cards/100", {}, 1),
        ("GET", "cards/100", {"If-None-Match": "*"}, 1),
        ("GET", "fingerprints", {}, 1),
        ("GET", "fingerprints", {"If-None-Match": "*"}, 1),
        ("GET", "cards/1", {}, 1),
        ("GET", "cards?limit=0", {}, 1),
        ("GET", "watchlist", {}, 1),  # 403 for this key
        ("GET", "nowhere", {}, 0),
        ("GET", "cards/1/2", {}, 0),
        ("POST", "cards", {}, 0),
        ("HEAD", "cards", {}, 0),
        ("OPTIONS", "cards", {"Origin": "https://a.example", "Access-Control-Request-Method": "GET"}, 0),
        ("GET", "openapi.json", {}, 0),
    ],
)
def test_what_counts(
    service: Service, keys: dict[str, str], method: str, path: str, headers: dict, counts: int
) -> None:
    client = service.client(keys["counted"])

    def attempt() -> tuple[set[int], int]:
        first = window_left(client.get(f"{API}/me"))
        client.send(method, f"{API}/{path}", headers)
        last = window_left(client.get(f"{API}/me"))
        return {first[0], last[0]}, first[1] - last[1] - 1

    assert in_one_window(attempt) == counts


def test_a_refused_request_does_not_count_again(service: Service, fixed_store: Path, keys: dict[str, str]) -> None:
    """Refused requests do not count: if the limit is raised within the minute, only answered requests are used up."""
    client = service.client(keys["to raise"])
    id_ = client.get(f"{API}/me").json["id"]
    raised = iter((100, 600, 1100))

    def attempt() -> tuple[set[int], int]:
        before = [client.get(f"{API}/me")]
        while before[-1].status != 429:
            before.append(client.get(f"{API}/me"))
        before += [client.get(f"{API}/me") for _ in range(10)]
        run("keys", "update", id_, "--store", fixed_store, "--rate-limit", next(raised))
        answer = until(lambda: _accepted(client), 60, "the new limit")
        return {window_left(one)[0] for one in [*before, answer]}, _used(answer) - max(map(_used, before))

    assert in_one_window(attempt) == 1


def test_wrong_keys_do_not_count(service: Service, keys: dict[str, str]) -> None:
    client = service.client(keys["counted"])

    def attempt() -> tuple[set[int], int]:
        first = window_left(client.get(f"{API}/me"))
        for _ in range(5):
            assert service.client("cpm_live_" + "b" * 32).get(f"{API}/me").status == 401
        last = window_left(client.get(f"{API}/me"))
        return {first[0], last[0]}, first[1] - last[1]

    assert in_one_window(attempt) == 1


@pytest.mark.thorough
def test_two_shims_and_a_restart_share_one_count(fixed_store: Path, keys: dict[str, str], tmp_path: Path) -> None:

    def left(service: Service) -> tuple[int, int]:
        return window_left(service.client(keys["shared"]).get(f"{API}/me"))

    def attempt() -> tuple[set[int], list[int]]:
        with Service(fixed_store, tmp_path / "state") as one:
            with Service(fixed_store, tmp_path / "state") as other:
                actual = [left(one), left(other), left(one), left(other)]
            actual.append(left(one))
        with Service(fixed_store, tmp_path / "state") as again:
            actual.append(left(again))
        return {reset for reset, _ in actual}, [first[1] - second[1] for first, second in pairwise(actual)]

    assert in_one_window(attempt) == [1] * 5


def test_the_description_is_limited_by_address(service: Service) -> None:
    """120 a minute for each address the trusted proxy names; the last address it did not add counts."""

    def client_for(forwarded: str) -> Client:
        return service.client(X_Forwarded_For=forwarded)

    assert_exact(flood(lambda: client_for("203.0.113.7"), DESCRIPTION, threads=4, each=62), 120)
    assert client_for("203.0.113.8").get(DESCRIPTION)["X-RateLimit-Limit"] == "120"

    def attempt() -> tuple[set[int], int]:
        first = window_left(client_for("203.0.113.9").get(DESCRIPTION))
        last = window_left(client_for("198.51.100.1, 203.0.113.9").get(DESCRIPTION))
        return {first[0], last[0]}, first[1] - last[1]

    assert in_one_window(attempt) == 1


def test_other_proxies_are_not_trusted(fixed_service: Service) -> None:
    def attempt() -> tuple[set[int], int]:
        first = window_left(fixed_service.client(X_Forwarded_For="203.0.113.1").get(DESCRIPTION))
        last = window_left(fixed_service.client(X_Forwarded_For="203.0.113.2").get(DESCRIPTION))
        return {first[0], last[0]}, first[1] - last[1]

    assert in_one_window(attempt) == 1


def _used(answer: HttpAnswer) -> int:
    """Return the requests of the window so far, by the limit of the answering worker, which may be an older one."""
    return int(answer["X-RateLimit-Limit"]) - window_left(answer)[1]


def _accepted(client: Client) -> HttpAnswer | None:
    answer = client.get(f"{API}/me")
    return answer if answer.status == 200 else None
