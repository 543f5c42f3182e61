"""A publish announces a build, and moves the pointer when the shims have opened it."""

import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from threading import Event, Thread

import pytest

from edge_auth.builds.layout import SHIMS
from edge_auth.builds.pointer import Announced, live_build_id, read_pointer
from edge_auth.errors import StoreError
from edge_auth.live.presence import Presence, Record, records
from edge_auth.store.folder import FolderStore
from generator.releases import publish as publishing
from generator.releases.publish import publish, rollback
from tests.support import small_store
from tests.support.commands import issue
from tests.support.service import API, HttpAnswer, Service, until

pytestmark = pytest.mark.xdist_group("announce")  # one process: what they share is made once

LONG, LIMIT = 600.0, 60.0  # seconds that a test fails after, and that a busy machine may need
DEAD = Record("process 7 on elsewhere", time.time() + 86_400)  # longer than a run of the tests
IN_FORCE_SECONDS = 1.0


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
        until(lambda: len(list(records(store))) == 2, LIMIT, "both workers say that they are there")
        yield service


def test_a_build_is_in_force_at_once(service: Service, store: FolderStore, builds: list[str]) -> None:
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
    moves = []
    for move in (lambda: publish(store, builds[1], by_hand=True, wait=LONG), lambda: rollback(store, wait=LONG)):
        move()
        moves.append((store.local_path("current.json").stat().st_mtime, live_build_id(store)))
        seen_until = moves[-1][0] + IN_FORCE_SECONDS
        until(lambda seen_until=seen_until: answers[-1][0] > seen_until, LIMIT, "it must be in force")
        assert answers[-1][1]["X-Build"] == moves[-1][1]
    ended.set()
    asking.join()
    assert [build for _, build in moves] == builds[::-1]
    assert {answer.status for _, answer in answers} == {200}
    products = {(answer["X-Build"], answer["X-Total-Count"]) for _, answer in answers}
    assert products == {(builds[0], str(small_store.ALL)), (builds[1], "50")}


def test_the_pointer_waits_until_the_build_is_open(
    store: FolderStore, builds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shim of this test opens the build after the publisher has looked three times."""
    looks: list[str] = []

    def look(seconds: float) -> None:
        pointer, _ = read_pointer(store)
        looks.append(pointer.build)
        if len(looks) == 3:
            say(store, replace(DEAD, opened=pointer.announced.nonce))

    monkeypatch.setattr(publishing.time, "sleep", look)
    say(store, DEAD)
    publish(store, builds[1], by_hand=True, wait=LONG)
    assert looks == [builds[0]] * 3
    pointer, _ = read_pointer(store)
    assert (pointer.build, pointer.announced) == (builds[1], None)


def say(store: FolderStore, record: Record) -> None:
    store.put(f"{SHIMS}0123456789abcdef.json", json.dumps(asdict(record)).encode())


@pytest.mark.thorough
def test_a_dead_shim_delays_once_and_is_named(
    store: FolderStore, builds: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    say(store, DEAD)
    began = time.monotonic()
    publish(store, builds[1], by_hand=True, wait=0.5)
    assert time.monotonic() - began >= 0.5
    assert capsys.readouterr().err == (
        f"{DEAD.shim} has not opened {builds[1]} within 0.5 s, and is not waited for any more\n"
    )
    rollback(store, wait=LONG)
    assert live_build_id(store) == builds[0] and capsys.readouterr().err == ""


@pytest.mark.parametrize("record", [None, DEAD], ids=["none", "not waited for"])
def test_without_shims_nothing_is_announced(
    store: FolderStore, builds: list[str], record: Record | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "_write_announcement", None)
    if record:
        say(store, record)
    publish(store, builds[1], by_hand=True, wait=0 if record else LONG)
    assert live_build_id(store) == builds[1]


def test_an_old_record_counts_no_more(
    store: FolderStore, builds: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    say(store, replace(DEAD, expires=time.time() - 1))
    publish(store, builds[1], by_hand=True, wait=LONG)
    assert f"{DEAD.shim} has ended without a word" in capsys.readouterr().err
    assert list(store.list(SHIMS)) == []


@pytest.mark.thorough
def test_another_publisher_in_between_ends_the_wait(store: FolderStore, builds: list[str]) -> None:
    say(store, DEAD)
    pointer, _ = read_pointer(store)
    publishing._write_announcement(store, pointer, Announced(builds[1], "of another", LONG))
    mine = Announced(builds[1], "mine", LONG)
    assert publishing._late_shims(store, pointer, mine, set(store.list(SHIMS))) == {}


@pytest.mark.thorough
def test_a_killed_shim_is_known_at_once(
    service: Service, store: FolderStore, builds: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """One that ends as it should leaves nothing."""
    workers = [int(record.shim.split()[1]) for _, record in records(store)]
    os.kill(workers[0], signal.SIGKILL)
    until(lambda: len(list(records(store))) == 3, LIMIT, "another worker has its place")
    publish(store, builds[1], by_hand=True, wait=LONG)
    assert f"process {workers[0]} on " in capsys.readouterr().err
    service.process.terminate()
    service.process.wait(LIMIT)
    assert not (store.root / SHIMS).exists()


def test_a_shim_that_may_not_write_is_not_waited_for(
    store: FolderStore, builds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[str] = []
    presence = Presence(store, log.append)

    def refuse(*_: object) -> None:
        raise StoreError("Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(FolderStore, "put", refuse)
        presence.renew()
        presence.renew()
    assert log == [
        "`cardpress publish` does not wait for this shim, which cannot say that it is there: Read-only file system"
    ]
    publish(store, builds[1], by_hand=True, wait=LONG)
    assert live_build_id(store) == builds[1]
