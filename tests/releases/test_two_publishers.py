"""Two publishers at the same moment: one of them wins, and the steps of /changes stay a chain."""

import random
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from threading import Barrier

import pytest

from generator.errors import PublishError
from generator.releases.change_documents import missing_steps, verify_steps
from generator.releases.publish import publish, rollback
from generator.storage.builds import live_build_id
from generator.storage.stores.folder import FolderStore
from tests.releases.test_changes import brute_force, cards, get_json, lakes
from tests.support.shim_clients import open_client

pytestmark = pytest.mark.thorough

LOST = "another publisher moved the pointer meanwhile"


@pytest.fixture
def nights(tmp_path: Path) -> tuple[FolderStore, tuple[str, ...]]:
    """A store with eight builds, of which the first two were published."""
    pattern, ids = lakes()
    shutil.copytree(pattern.root, tmp_path / "store")
    store = FolderStore(str(tmp_path / "store"))
    for build in ids[:2]:
        publish(store, build, by_hand=True)
    return store, ids


def at_once(*actions: Callable[[], object]) -> list[str]:
    """Call functions at the same moment. Return the messages of those that failed."""
    barrier = Barrier(len(actions))

    def call(action: Callable[[], object]) -> str | None:
        barrier.wait()
        try:
            action()
        except PublishError as error:
            return str(error)
        return None

    with ThreadPoolExecutor(len(actions)) as pool:
        return [message for message in pool.map(call, actions) if message]


def assert_a_chain(store: FolderStore, at_least: int) -> None:
    """Check that each step begins where the one before it ended, and that all documents are right."""
    with open_client(store.location, str(store.root.parent / "state"), 100_000) as shim:
        steps = get_json(shim, "changes?limit=100")["data"]
        assert len(steps) >= at_least and steps[0]["to"] == live_build_id(store)
        assert all(newer["from"] == older["to"] for newer, older in pairwise(steps))
        assert missing_steps(store) == []
        assert verify_steps(store) == len({(step["from"], step["to"]) for step in steps})
        content = {build: cards(store, build) for step in steps for build in (step["from"], step["to"])}
        for step in steps:
            document = get_json(shim, step["url"].removeprefix("/api/v1/"))
            assert brute_force(content[step["from"]], content[step["to"]]).items() <= document.items()


def test_publishes_and_rollbacks_at_the_same_moment(nights) -> None:
    store, ids = nights
    rng, rounds, lost = random.Random(5), 25, 0
    for _ in range(rounds):
        live = live_build_id(store)
        first, second = rng.sample([id_ for id_ in ids if id_ != live], 2)
        other = rng.choice([lambda: rollback(store), lambda id_=second: publish(store, id_, by_hand=True)])
        messages = at_once(lambda id_=first: publish(store, id_, by_hand=True), other)
        assert len(messages) < 2 and all(LOST in message or "cannot roll back" in message for message in messages)
        lost += sum(LOST in message for message in messages)
    assert lost, "no two met"
    assert_a_chain(store, rounds)
