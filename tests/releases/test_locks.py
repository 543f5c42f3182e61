"""Locks: they end with their process in a folder, after a lease in a bucket, by `unlock`, and by SIGTERM."""

import itertools
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from generator.clock import utc_now
from generator.errors import BusyError, TerminatedError
from generator.releases.locks import current_holder, end_by_error, locked
from generator.storage import layout
from generator.storage.layout import POINTER
from generator.storage.stores.folder import FolderStore
from tests.support.commands import run
from tests.support.nights import demo_lake, in_hours, published
from tests.support.service import ROOT, environment, until

pytestmark = pytest.mark.xdist_group("nights")


def without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let folder stores have no files, as buckets."""
    monkeypatch.setattr(FolderStore, "local_path", lambda *_: None)


@pytest.fixture(params=["folder", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FolderStore:
    if request.param == "bucket":
        without_files(monkeypatch)
    return FolderStore(str(tmp_path / "store"))


def nightly(store: FolderStore, clock=utc_now, seconds: float = 60):
    return locked(store, layout.NIGHTLY_LOCK, run="alive", clock=clock, seconds=seconds)


LEFT_LOCK = """
import os, sys
from generator.storage.stores.folder import FolderStore
from generator.clock import utc_now
from generator.releases.locks import locked
with locked(FolderStore(sys.argv[1]), sys.argv[2], run="killed", clock=utc_now, seconds=3600) as lock:
    lock.announce(sys.argv[3:])
    os.kill(os.getpid(), 9)
"""


def test_the_lock_of_a_killed_run_ends_with_its_process_in_a_folder(tmp_path: Path) -> None:
    """The build before is on the list of the prune: a publish would wait for the lock."""
    store, _, ids = published(tmp_path, 7)
    command = [sys.executable, "-c", LEFT_LOCK, store.root, layout.PRUNE_LOCK, ids[0]]
    assert subprocess.run(command, cwd=ROOT, env=environment()).returncode == -9
    assert json.loads(store.get(layout.PRUNE_LOCK))["doomed"] == ids
    assert current_holder(store, layout.PRUNE_LOCK, utc_now) is None
    assert run("unlock", "--store", store.root).stdout.splitlines()[1] == "private/prune.lock: no run holds it"
    assert run("publish", ids[0], "--store", store.root).stdout.strip() == ids[0]


@pytest.mark.thorough
def test_a_lock_of_the_future_is_found_and_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run was killed in a bucket while its clock was ahead."""
    store, lake, _ = published(tmp_path, 7)
    demo_lake(lake, 8)
    without_files(monkeypatch)
    with nightly(store, in_hours(40_000)):
        left = store.get(layout.NIGHTLY_LOCK)
    store.put(layout.NIGHTLY_LOCK, left)
    refused = run("nightly", "--lake", lake, "--store", store.root, status=1)
    assert "run alive" in refused.stderr and "`cardpress unlock --force`" in refused.stderr
    findings = run("doctor", "--store", store.root, "--read-only", "--state", tmp_path / "state", status=1).stdout
    assert "problem  lock       private/nightly.lock is of a run whose clock was ahead: run alive" in findings
    lines = run("unlock", "--force", "--store", store.root).stdout.splitlines()
    assert lines[0].startswith("private/nightly.lock: released; run alive on ")
    assert lines[1] == "private/prune.lock: no run holds it"
    run("nightly", "--lake", lake, "--store", store.root, "--no-pages")


def test_a_run_that_may_be_alive_keeps_its_lock_unless_forced(store: FolderStore) -> None:
    with nightly(store) as lock:
        lock.check()
        with pytest.raises(BusyError, match="another nightly is running: run alive on ") as busy, nightly(store):
            raise AssertionError("it was locked twice")
        refused = run("unlock", "--store", store.root, status=1).stderr
        in_folder = store.local_path(POINTER) is not None
        for said in (str(busy.value), refused):
            assert re.search(r"\(process \d+\) since \d{4}-", said)
            assert ("alive: wait until it ends" in said) == in_folder != ("--force" in said)
        assert current_holder(store, layout.NIGHTLY_LOCK, utc_now)
        run("unlock", "--store", store.root, "--force")
        assert current_holder(store, layout.NIGHTLY_LOCK, utc_now) is None
        with pytest.raises(BusyError, match="lost its lock"):
            lock.announce([])
        with nightly(store) as other:
            with pytest.raises(BusyError, match="lost its lock"):
                lock.check()
            other.check()
    assert "no run holds it" in run("unlock", "--store", store.root).stdout


def test_a_clock_that_is_ahead_ends_no_lock_of_a_folder(tmp_path: Path) -> None:
    store = FolderStore(str(tmp_path))
    with nightly(store) as lock, pytest.raises(BusyError, match="another nightly is running"):
        lock.clock = in_hours(40_000)
        lock.check()
        with nightly(store, in_hours(40_000)):
            raise AssertionError("it was locked twice")


def test_a_held_lock_is_no_problem(tmp_path: Path) -> None:
    store, _, _ = published(tmp_path, 7)
    with nightly(store):
        lines = run("doctor", "--store", store.root, "--read-only", "--state", tmp_path / "s").stdout
    assert "ok       lock       private/nightly.lock is held by run alive on " in lines


def test_a_lease_is_renewed_while_its_holder_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_files(monkeypatch)
    store = FolderStore(str(tmp_path))
    with nightly(store, seconds=2) as lock:
        first = store.get(layout.NIGHTLY_LOCK)
        until(lambda: store.get(layout.NIGHTLY_LOCK) != first, 60, "a renewal")
        lock.check()


@pytest.mark.parametrize("write", [0, 1], ids=["taken", "released"])
def test_a_signal_while_the_lock_is_taken_or_released(
    store: FolderStore, write: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = itertools.count()

    def signalled(step: Callable[..., None]) -> Callable[..., None]:
        def then_signal(*arguments: object) -> None:
            step(*arguments)
            if next(writes) == write:
                signal.raise_signal(signal.SIGTERM)

        return then_signal

    for name in ("put", "swap", "delete"):
        monkeypatch.setattr(FolderStore, name, signalled(getattr(FolderStore, name)))
    with pytest.raises(TerminatedError), end_by_error("night"), nightly(store):
        pass
    assert current_holder(store, layout.NIGHTLY_LOCK, utc_now) is None


def test_a_terminated_prune_releases_its_lock(tmp_path: Path) -> None:
    store, _, _ = published(tmp_path, 7)
    for layer in ("old", "older"):
        store.put(f"layers/history-open/{layer}/x.jsonl.gz", b"x")
    process = subprocess.Popen(
        [sys.executable, "-m", "generator", "prune", "--store", store.root, "--grace", "0"],
        cwd=ROOT, env=environment(), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until(lambda: current_holder(store, layout.PRUNE_LOCK, utc_now), 60, "the prune holds its lock")
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1 and "the prune was ended by SIGTERM" in said
    assert current_holder(store, layout.PRUNE_LOCK, utc_now) is None
