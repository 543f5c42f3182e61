"""A publish moves the pointer alone, and shims change over beside requests; builds that requests name in X-Build."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event, Thread

import pytest

from edge_auth.live import build_registry
from edge_auth.live.open_build import OpenBuild
from generator.releases.publish import publish, rollback
from generator.storage import layout
from generator.storage.layout import POINTER
from generator.storage.stores.folder import FolderStore
from tests.support import small_store
from tests.support.commands import issue
from tests.support.selection import mostly_thorough
from tests.support.service import API, HttpAnswer, Service, until
from tests.support.shim_clients import WsgiClient

IN_FORCE_SECONDS, LIMIT = 5.0, 60.0  # the law, and what a busy machine may need to answer at all


@pytest.fixture
def folder(tmp_path: Path) -> FolderStore:
    return FolderStore(str(tmp_path / "store"))


@pytest.fixture
def builds(folder: FolderStore) -> list[str]:
    """The live build, and another one."""
    return [small_store.add_build(folder), small_store.add_build(folder, 50, live=False)]


@pytest.fixture
def service(folder: FolderStore, builds: list[str], tmp_path: Path) -> Iterator[Service]:
    with Service(folder.root, tmp_path / "state", workers=2, through_nginx=False) as service:
        yield service


def test_a_build_is_in_force_soon(service: Service, folder: FolderStore, builds: list[str]) -> None:
    """So it is after a rollback. No request fails meanwhile, and no answer is of another build than it says."""
    client = service.client(issue(folder.root))
    client.get(f"{API}/cards")
    answers: list[tuple[float, HttpAnswer]] = []
    ended = Event()

    def ask() -> None:
        while not ended.is_set():
            asked_at = time.time()
            answers.append((asked_at, client.get(f"{API}/cards?limit=1")))

    asking = Thread(target=ask)
    asking.start()
    for move, build in (
        (lambda: publish(folder, builds[1], by_hand=True), builds[1]),
        (lambda: rollback(folder), builds[0]),
    ):
        move()
        seen_until = time.time() + IN_FORCE_SECONDS
        until(lambda moment=seen_until: answers and answers[-1][0] > moment, LIMIT, "it must be in force")
        assert answers[-1][1]["X-Build"] == build
    ended.set()
    asking.join()
    assert {answer.status for _, answer in answers} == {200}
    products = {(answer["X-Build"], answer["X-Total-Count"]) for _, answer in answers}
    assert products == {(builds[0], str(small_store.ALL)), (builds[1], "50")}


def test_a_publish_changes_the_pointer_and_the_steps_alone(folder: FolderStore, builds: list[str]) -> None:
    before = {entry.name: entry.state for entry in folder.entries("")}
    publish(folder, builds[1], by_hand=True)
    after = {entry.name: entry.state for entry in folder.entries("")}
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert POINTER in changed
    assert [name for name in changed if name != POINTER and not name.startswith("changes/")] == []


STATUS = "/api/v1/status"
CHANGES = "/api/v1/changes"


@pytest.mark.parametrize("path", mostly_thorough(["/docs", "/explore/", "/docs/llms.txt"], "/docs"))
@pytest.mark.parametrize("named", ["other", "nope", small_store.AS_OF + "-00000000000c"])
@pytest.mark.thorough
def test_pages_come_from_the_live_build(own, path, named):
    other = small_store.add_build(FolderStore(own.location), 20, live=False)
    answer = own.get(path, key=None, x_build=other if named == "other" else named)
    assert (answer.status, answer.headers["X-Build"]) == (200, own.build)
    assert "X-Build" not in answer.headers["Vary"]


@pytest.fixture
def lists(monkeypatch):
    seen, list_ = [], FolderStore.list

    def noted(store, prefix):
        if prefix == layout.BUILDS:
            seen.append(prefix)
        return list_(store, prefix)

    monkeypatch.setattr(FolderStore, "list", noted)
    return seen


def unknown_id(number: int) -> str:
    return f"{small_store.AS_OF}-{number:012x}"


@pytest.mark.shim_only("counts reads in this process")
def test_made_up_builds_cost_the_store_little(location, tmp_path, lists):
    client = WsgiClient(location, str(tmp_path / "state"), 1_000_000)
    lists.clear()
    began = time.monotonic()
    answers = [client.get(STATUS, x_build=unknown_id(number)) for number in range(30)]
    assert {(answer.status, answer.code) for answer in answers} == {(400, "invalid_parameter")}
    assert len(lists) <= 10 + 2 * (time.monotonic() - began) + 1
    kept = small_store.add_build(FolderStore(location), 20, live=False)
    until(lambda: client.get(STATUS, x_build=kept).status == 200, 60, "others may still name a build that is kept")
    assert client.get(STATUS).status == 200


@pytest.mark.shim_only("changes the registry in this process")
def test_a_build_that_is_being_opened_delays_no_one(store, tmp_path, monkeypatch):
    """Several requests wait for it, and it is opened once."""
    other = small_store.add_build(FolderStore(store), 20, live=False)
    client = WsgiClient(store, str(tmp_path / "state"), 1_000_000, store_seconds=60.0)
    assert client.get(STATUS).status == 200
    going_on, read, opened = Event(), build_registry.BuildRegistry._read, list[str]()

    def slow(self, id_):
        opened.append(id_)
        going_on.wait(60)
        return read(self, id_)

    monkeypatch.setattr(build_registry.BuildRegistry, "_read", slow)
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(client.get, STATUS, x_build=other) for _ in range(8)]
        until(lambda: opened, 60, "it is being opened")
        assert {client.get(STATUS).status for _ in range(20)} == {200}
        assert not any(answer.done() for answer in answers)
        going_on.set()
        assert {answer.result(60).headers["X-Build"] for answer in answers} == {other}
    assert opened == [other]


@pytest.mark.shim_only("changes the store in this process")
def test_a_store_that_hangs_leaves_threads_to_others(store, tmp_path, monkeypatch):
    """Requests for steps that are not known have the pointer read again."""
    client, going_on = WsgiClient(store, str(tmp_path / "state"), 1_000_000), threading.Event()
    assert client.get(STATUS).status == 200
    read = build_registry.live_pointer
    monkeypatch.setattr(build_registry, "live_pointer", lambda store: going_on.wait(60) and read(store))
    with ThreadPoolExecutor(64) as pool:
        asked = [pool.submit(client.get, f"{CHANGES}/{unknown_id(n)}...{unknown_id(0)}") for n in range(64)]
        until(lambda: sum(answer.done() for answer in asked) >= 32, 4, "few of them wait")
        going_on.set()
    assert {answer.result().status for answer in asked} == {404}


@pytest.mark.shim_only("changes a bound of the shim in this process")
@pytest.mark.thorough
def test_a_request_that_finds_no_place_to_wait_is_told_when_to_come_back(store, tmp_path, monkeypatch):
    monkeypatch.setattr("edge_auth.serve.app._MAX_WAITING", 1)
    client, waited, going_on = WsgiClient(store, str(tmp_path / "state"), 1_000_000), [], threading.Event()
    one, other = (small_store.add_build(FolderStore(store), products, live=False) for products in (20, 21))

    def slow(build, **_):
        waited.append(build.id)
        going_on.wait(60)

    monkeypatch.setattr(OpenBuild, "prepare", slow)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(client.get, STATUS, x_build=one)
        until(lambda: waited, 60, "a request opens a build")
        refused = client.get(STATUS, x_build=other)
        going_on.set()
    assert (refused.status, refused.code, refused.headers["Retry-After"]) == (429, "rate_limited", "5")


def test_a_pruned_build_answers_no_more(folder: FolderStore, builds: list[str], tmp_path: Path) -> None:
    with WsgiClient(str(folder.root), str(tmp_path / "state"), 10_000) as client:
        ask = partial(client.get, f"{API}/cards", X_Build=builds[1])
        assert ask().headers["X-Build"] == builds[1]
        folder.delete([layout.record_name(builds[1])])
        until(lambda: ask().status == 400, LIMIT, "its files go, so it must not stay open")
