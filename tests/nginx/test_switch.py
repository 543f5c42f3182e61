"""A switch of builds behind nginx: what clients ask for often comes from the cache of the new build at once."""

import copy
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, repeat
from pathlib import Path

import pytest

from edge_auth.contract.layout import POINTER
from edge_auth.contract.pointer import Pointer
from edge_auth.contract.store.folder import FolderStore
from tests.support.commands import build
from tests.support.lakes import FIXED, write
from tests.support.nginx_edge import LIMIT
from tests.support.service import API, Client, HttpAnswer, Service, until

OFTEN = [f"{API}/cards?limit={limit}" for limit in range(1, 9)] + [f"{API}/watchlist"]
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


def asked(client: Client) -> list[HttpAnswer]:
    return [client.get(target, Accept_Encoding=coding) for target in OFTEN for coding in CODINGS]


def from_cache(client: Client) -> bool:
    return all(answer["X-Cache"] == "HIT" for answer in asked(client))


def until_switched(client: Client, to: str) -> list[HttpAnswer]:
    """Ask until all answers come from a build. Return every answer."""
    seen: list[HttpAnswer] = []
    while not seen or {answer["X-Build"] for answer in seen[-len(OFTEN) :]} != {to}:
        seen += asked(client)
    return seen


def test_what_is_asked_for_often_never_misses(service: Service, store: Path, key: str, other: str) -> None:
    """Each client talks to one process of nginx, so several clients ask. The way back is the same."""
    clients = [service.client(key) for _ in range(4)]
    for client in clients:
        until(lambda client=client: from_cache(client), LIMIT, "the pages are in the cache")
    live = clients[0].get(OFTEN[0])["X-Build"]
    for to in (other, live):
        move(store, to)
        with ThreadPoolExecutor(len(clients)) as pool:
            seen = list(chain.from_iterable(pool.map(until_switched, clients, repeat(to))))
        assert {(answer.status, answer["X-Cache"]) for answer in seen} == {(200, "HIT")}
        for target in OFTEN:
            hit = clients[0].get(target, Accept_Encoding="gzip")
            miss = clients[0].get(target, Accept_Encoding="gzip, *;q=0", X_Build=to)  # nginx reads no weights
            assert (hit["X-Cache"], miss["X-Cache"]) == ("HIT", "MISS")
            assert (hit.body, hit["ETag"], hit["X-Build"]) == (miss.body, miss["ETag"], to)
            assert {name.lower() for name in hit.headers} == {name.lower() for name in miss.headers}


def test_a_client_cannot_fetch_as_nginx_does(service: Service, other: str) -> None:
    for name in ("X_Edge_Build", "X-Edge-Build", "x-edge-build"):
        for target in (OFTEN[0], f"{API}/me", "/docs"):
            answer = service.client().send("GET", target, {name: f"fetch {other}"})
            assert answer.status == (200 if target == "/docs" else 401)
            assert answer["X-Edge-Scope"] is None
