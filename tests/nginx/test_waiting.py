"""Equal requests at the same time: the shim answers one of them, and nginx the others, which have waited for it."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.support.nginx import CARDS, LIMIT, cached
from tests.support.service import API, HttpAnswer, Service, children, until, window_left

pytestmark = pytest.mark.thorough

MANY = 24
_offsets = count(1)  # so that no two tests ask for the same page
Asks = Callable[..., "Future[HttpAnswer]"]


@pytest.fixture
def page() -> str:
    return f"{API}/cards?limit=3&offset={next(_offsets)}"


@pytest.fixture
def asks(fixed_service: Service, keys: dict[str, str]) -> Iterator[Asks]:
    """Return a function that sends a request while others wait. Nginx has counted for both keys before."""
    for name in ("all", "counted"):
        cached(fixed_service.client(keys[name]))
    with ThreadPoolExecutor(4 * MANY) as pool:
        yield lambda target, key="all", **headers: pool.submit(
            fixed_service.client(keys.get(key)).get, target, **headers
        )


@contextmanager
def paused(service: Service) -> Iterator[set[str]]:
    """Stop the workers of the shim. Yield the clients that nginx has already."""
    workers = service.workers()
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield {*unread_of_clients(service)}
    finally:
        for pid in workers:
            os.kill(pid, signal.SIGCONT)


def unread_of_clients(service: Service) -> dict[str, int]:
    """Return how many bytes nginx has not read of each connected client."""
    port, established = f":{service.port:04X}", "01"
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ours = [line for line in lines if line[1].endswith(port) and line[3] == established]
    return {line[2]: int(line[4].partition(":")[2], 16) for line in ours}


def has_read(service: Service, before: set[str], requests: int) -> bool:
    """Return whether nginx has read what so many clients have sent, beside those before."""
    unread = [size for client, size in unread_of_clients(service).items() if client not in before]
    return len(unread) >= requests and not any(unread)


def connections(service: Service) -> int:
    """Return how many connections nginx has to the shim."""
    return Path("/proc/net/unix").read_text().count(f"{service.folder}/shim\n") - 1


def seen_by_shim(service: Service, id_: str) -> int:
    """Return how many requests with an id the shim has logged."""
    return service.log.read_text().count(f'"request":"{id_}"')


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_the_shim_answers_one_of_many_equal_requests(
    fixed_service: Service, asks: Asks, page: str, coding: str
) -> None:
    """Requests of two keys at once: each is counted for its own key."""
    id_ = f"at-once-{coding}"
    headers = {"Accept_Encoding": coding, "X_Request_Id": id_}
    with paused(fixed_service) as before:
        asked = {key: [asks(page, key, **headers) for _ in range(MANY // 2)] for key in ("all", "counted")}
        until(lambda: has_read(fixed_service, before, MANY), LIMIT, "nginx has all requests")
    answers = {key: [future.result(LIMIT) for future in futures] for key, futures in asked.items()}
    every = [*answers["all"], *answers["counted"]]
    assert {answer.status for answer in every} == {200} and len({answer.body for answer in every}) == 1
    assert sorted(answer["X-Cache"] for answer in every) == ["HIT"] * (MANY - 1) + ["MISS"]
    for of_key in answers.values():
        assert len({window_left(answer) for answer in of_key}) == MANY // 2, "each request is counted"
    assert until(lambda: seen_by_shim(fixed_service, id_), LIMIT, "the shim logs it") == 1


def test_equal_conditions_wait_for_each_other(fixed_service: Service, asks: Asks, page: str) -> None:
    tag = asks(page).result(LIMIT)["ETag"]
    other = f"{page}&sort=trend"  # the same rows, so it has the same tag
    with paused(fixed_service) as before:
        futures = [asks(other, If_None_Match=tag) for _ in range(MANY)]
        until(lambda: has_read(fixed_service, before, MANY), LIMIT, "nginx has all requests")
    answers = [future.result(LIMIT) for future in futures]
    assert [(answer.status, answer.body) for answer in answers] == [(304, b"")] * MANY
    assert sorted(answer["X-Cache"] for answer in answers) == ["HIT"] * (MANY - 1) + ["MISS"]


def test_an_error_is_for_one_request_alone(fixed_service: Service, asks: Asks, page: str) -> None:
    """The shim refuses the first request, so the others go on by themselves."""
    with paused(fixed_service) as before:
        first = asks(page, "none")
        until(lambda: has_read(fixed_service, before, 1), LIMIT, "nginx has the first request")
        others = [asks(page, key) for key in ("all", "watchlist", "counted") * 4]
        until(lambda: has_read(fixed_service, before, len(others) + 1), LIMIT, "nginx has all requests")
    assert first.result(LIMIT).code == "unauthorized"
    assert [other.result(LIMIT).status for other in others] == [200, 403, 200] * 4


def test_no_request_waits_for_long(store: Path, key: str, tmp_path: Path, page: str) -> None:
    """The shim has answered none of them when all have reached it. What is in the cache needs no shim."""
    with Service(store, tmp_path / "state", workers=1, through_nginx=True) as service, ThreadPoolExecutor(MANY) as pool:
        conf, older = service.folder / "nginx.conf", set(children(service.nginx.pid))
        conf.write_text(re.sub("keepalive [0-9]+;", "", conf.read_text()))  # no connection is idle: each is a request's
        service.nginx.send_signal(signal.SIGHUP)
        until(lambda: older.isdisjoint(children(service.nginx.pid)), LIMIT, "nginx has only new processes")
        client = service.client(key)  # one connection: its process of nginx knows the answer
        cached(client)
        until(lambda: connections(service) == 0, LIMIT, "the shim has closed its side of earlier ones")
        with paused(service):
            futures = [pool.submit(service.client(key).get, page) for _ in range(4)]
            assert client.get(CARDS)["X-Cache"] == "HIT"
            until(lambda: connections(service) >= len(futures), LIMIT, "each has a connection to the shim")
        answers = [future.result(LIMIT) for future in futures]
    assert {(answer.status, answer["X-Cache"]) for answer in answers} == {(200, "MISS")}


def test_addresses_reach_the_shim_as_they_were_sent(fixed_service: Service, asks: Asks) -> None:
    target = f"{API}/watchlist/no%2Fsuch//%41slug"
    with paused(fixed_service) as before:
        futures = [asks(target) for _ in range(3)]
        until(lambda: has_read(fixed_service, before, len(futures)), LIMIT, "nginx has all requests")
    assert {future.result(LIMIT).status for future in futures} == {404}
    path = f'"path":"{API}/watchlist/no/such//Aslug"'
    until(lambda: fixed_service.log.read_text().count(path) == len(futures), LIMIT, f"the shim logs {path}")
