"""A publish moves the pointer and nothing else; shims look at it, and change over beside requests."""

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from edge_auth.builds.layout import POINTER
from edge_auth.store.folder import FolderStore
from generator.releases.publish import publish, rollback
from tests.support import small_store
from tests.support.commands import issue
from tests.support.service import API, HttpAnswer, Service, until

IN_FORCE_SECONDS, LIMIT = 5.0, 60.0  # the law, and what a busy machine may need to answer at all


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(str(tmp_path / "store"))


@pytest.fixture
def builds(store: FolderStore) -> list[str]:
    """The live build, and another one."""
    return [small_store.add_build(store), small_store.add_build(store, 50, live=False)]


@pytest.fixture
def service(store: FolderStore, builds: list[str], tmp_path: Path) -> Iterator[Service]:
    with Service(store.root, tmp_path / "state", workers=2, through_nginx=False) as service:
        yield service


def test_a_build_is_in_force_soon(service: Service, store: FolderStore, builds: list[str]) -> None:
    """So it is after a rollback. No request fails meanwhile, and no answer is of another build than it says."""
    client = service.client(issue(store.root))
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
        (lambda: publish(store, builds[1], by_hand=True), builds[1]),
        (lambda: rollback(store), builds[0]),
    ):
        move()
        seen_until = time.time() + IN_FORCE_SECONDS
        until(lambda seen_until=seen_until: answers[-1][0] > seen_until, LIMIT, "it must be in force")
        assert answers[-1][1]["X-Build"] == build
    ended.set()
    asking.join()
    assert {answer.status for _, answer in answers} == {200}
    products = {(answer["X-Build"], answer["X-Total-Count"]) for _, answer in answers}
    assert products == {(builds[0], str(small_store.ALL)), (builds[1], "50")}


def test_a_publish_changes_the_pointer_and_the_steps_alone(store: FolderStore, builds: list[str]) -> None:
    before = {entry.name: entry.state for entry in store.entries("")}
    publish(store, builds[1], by_hand=True)
    after = {entry.name: entry.state for entry in store.entries("")}
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert POINTER in changed
    assert [name for name in changed if name != POINTER and not name.startswith("changes/")] == []
