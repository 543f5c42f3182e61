"""A switch of builds behind nginx: what clients ask for often comes from the cache of the new build at once."""

import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, repeat
from pathlib import Path

import pytest

from edge_auth.builds.layout import POINTER
from edge_auth.builds.pointer import Pointer
from edge_auth.store.folder import FolderStore
from tests.support.commands import build
from tests.support.lakes import FIXED, write
from tests.support.nginx_edge import LIMIT
from tests.support.service import API, Client, HttpAnswer, Service, until

pytestmark = pytest.mark.thorough

CODINGS = ("gzip", "identity")


@pytest.fixture
def other(store: Path, tmp_path: Path) -> str:
    """Return a build of other cards in the store, which is not live."""
    changed = copy.deepcopy(FIXED)
    for row in changed.products:
        row["name"] = f"New {row['name']}"
    return build(write(changed, tmp_path / "new"), store, publish=False)


def move(store: Path, to: str) -> None:
    FolderStore(str(store)).put(POINTER, Pointer(to).to_bytes())


def often(attempt: int) -> list[str]:
    """Return pages that no other attempt asks for."""
    return [f"{API}/cards?limit={limit}&offset={attempt}" for limit in range(1, 9)]


def asked(client: Client, pages: list[str]) -> list[HttpAnswer]:
    return [client.get(page, Accept_Encoding=coding) for page in pages for coding in CODINGS]


def from_cache(client: Client, pages: list[str]) -> bool:
    return all(answer["X-Cache"] == "HIT" for answer in asked(client, pages))


def until_switched(client: Client, pages: list[str], to: str) -> list[HttpAnswer]:
    """Ask until all answers come from a build. Return every answer."""
    seen: list[HttpAnswer] = []
    while not seen or {answer["X-Build"] for answer in seen[-len(pages) :]} != {to}:
        seen += asked(client, pages)
    return seen


def never_misses(clients: list[Client], pages: list[str], switch: Callable[[], str]) -> bool:
    """Return whether every answer comes from the cache while a build goes live."""
    for client in clients:
        until(lambda client=client: from_cache(client, pages), LIMIT, "the pages are in the cache")
    to = switch()
    with ThreadPoolExecutor(len(clients)) as pool:
        seen = list(chain.from_iterable(pool.map(until_switched, clients, repeat(pages), repeat(to))))
    assert {answer.status for answer in seen} == {200}
    return {answer["X-Cache"] for answer in seen} == {"HIT"}


def test_what_is_asked_for_often_never_misses(service: Service, store: Path, key: str, other: str) -> None:
    """Each client talks to one process of nginx, so several clients ask.

    nginx waits three seconds for the new answers, and less for the lock of a count. A busy machine may need more.
    """
    clients = [service.client(key) for _ in range(4)]
    builds = [clients[0].get(f"{API}/status")["X-Build"], other]

    def switch() -> str:
        builds.reverse()
        move(store, builds[0])
        return builds[0]

    assert any(never_misses(clients, often(attempt), switch) for attempt in range(5))
    for page in often(0):
        hit = until(lambda page=page: hit_of(clients[0].get(page, Accept_Encoding="gzip")), LIMIT, "a hit")
        miss = clients[0].get(page, Accept_Encoding="gzip, *;q=0", X_Build=builds[0])  # nginx reads no weights
        assert miss["X-Cache"] == "MISS"
        assert (hit.body, hit["ETag"], hit["X-Build"]) == (miss.body, miss["ETag"], builds[0])
        assert {name.lower() for name in hit.headers} == {name.lower() for name in miss.headers}


def hit_of(answer: HttpAnswer) -> HttpAnswer | None:
    return answer if answer["X-Cache"] == "HIT" else None


def test_a_client_cannot_fetch_as_nginx_does(service: Service, other: str) -> None:
    for name in ("X_Edge_Build", "X-Edge-Build", "x-edge-build"):
        for target in (f"{API}/cards", f"{API}/me", "/docs"):
            answer = service.client().send("GET", target, {name: f"fetch {other}"})
            assert answer.status == (200 if target == "/docs" else 401)
            assert answer["X-Edge-Scope"] is None
