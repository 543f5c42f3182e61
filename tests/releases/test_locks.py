"""Locks of runs that were killed: `unlock` releases them, `doctor` finds those of the future, SIGTERM leaves none."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from edge_auth.builds import layout
from edge_auth.store.folder import FolderStore
from generator.clock import timestamp, utc_now
from generator.errors import BusyError, TerminatedError
from generator.releases.locks import Lease, current_holder
from generator.releases.termination import end_by_error
from tests.support.commands import run
from tests.support.nights import demo_lake, in_hours, published
from tests.support.service import ROOT, environment, until

pytestmark = pytest.mark.xdist_group("nights")
YEARS = 40_000  # hours


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return published(tmp_path, 7)[0]


def ended_process() -> int:
    return subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], stdout=subprocess.PIPE).stdout


def leave_lock(store: FolderStore, *, host: str, pid: int, hours: float = YEARS) -> None:
    """Leave the lock of a night that was killed while its clock was ahead."""
    since = in_hours(hours)()
    fields = {"run": "of-2030", "host": host, "pid": pid, "since": timestamp(since), "facts": {}}
    expires = timestamp(since + timedelta(minutes=2))
    store.put(layout.NIGHTLY_LOCK, json.dumps(fields | {"expires": expires, "released": False}).encode())


@pytest.mark.thorough
def test_a_lock_of_the_future_is_found_and_released(store: FolderStore, tmp_path: Path) -> None:
    leave_lock(store, host=socket.gethostname(), pid=int(ended_process()))
    lake = demo_lake(tmp_path / "lake", 8)
    refused = run("nightly", "--lake", lake, "--store", store.root, status=1)
    assert "run of-2030" in refused.stderr and "`cardpress unlock`" in refused.stderr
    findings = run("doctor", "--store", store.root, "--read-only", "--state", tmp_path / "state", status=1).stdout
    assert "problem  lock       private/nightly.lock is of a run whose clock was ahead: run of-2030" in findings
    result = run("unlock", "--store", store.root)
    assert result.stdout.splitlines()[0].startswith("private/nightly.lock: released; run of-2030 on ")
    assert result.stdout.splitlines()[1] == "private/prune.lock: no run holds it"
    assert "run holds it" in run("unlock", "--store", store.root).stdout.splitlines()[0]
    run("nightly", "--lake", lake, "--store", store.root, "--no-pages")


LEFT_LOCK = """
import os, sys
from edge_auth.store.folder import FolderStore
from generator.clock import utc_now
from generator.releases.locks import Lease
with Lease(FolderStore(sys.argv[1]), sys.argv[2], what="prune", run="killed", clock=utc_now, seconds=3600) as lease:
    lease.write_facts(doomed=sys.argv[3:])
    os.kill(os.getpid(), 9)
"""


def test_a_killed_prune_holds_no_build_of_its_machine(tmp_path: Path) -> None:
    """The build before is on the list of the prune: a night of another machine would wait an hour for the lock."""
    store, _, ids = published(tmp_path, 7)
    command = [sys.executable, "-c", LEFT_LOCK, store.root, layout.PRUNE_LOCK, ids[0]]
    assert subprocess.run(command, cwd=ROOT, env=environment()).returncode == -9
    lock = json.loads(store.get(layout.PRUNE_LOCK))
    assert not lock["released"] and lock["facts"]["doomed"] == ids
    assert current_holder(store, layout.PRUNE_LOCK, utc_now) is None
    store.put(layout.PRUNE_LOCK, json.dumps(lock | {"machine": "another container"}).encode())
    assert current_holder(store, layout.PRUNE_LOCK, utc_now) is None, "the file's lock tells in every container"
    elsewhere = lock | {"machine": "another machine", "lock": "another disk"}
    store.put(layout.PRUNE_LOCK, json.dumps(elsewhere).encode())
    assert current_holder(store, layout.PRUNE_LOCK, utc_now), "equal host names do not tell"
    assert "which may be alive" in run("unlock", "--store", store.root, status=1).stderr
    store.put(layout.PRUNE_LOCK, json.dumps(lock).encode())
    assert run("publish", ids[0], "--store", store.root).stdout.strip() == ids[0]


@pytest.mark.parametrize(
    ("host", "pid"), [(socket.gethostname(), os.getpid()), ("another-machine", 1)], ids=["this machine", "another"]
)
def test_a_run_that_may_be_alive_keeps_its_lock_unless_forced(store: FolderStore, host: str, pid: int) -> None:
    leave_lock(store, host=host, pid=pid)
    assert "which may be alive" in run("unlock", "--store", store.root, status=1).stderr
    assert current_holder(store, layout.NIGHTLY_LOCK, utc_now)
    run("unlock", "--store", store.root, "--force")
    assert current_holder(store, layout.NIGHTLY_LOCK, utc_now) is None


def test_a_living_run_of_another_container_keeps_its_lock(store: FolderStore) -> None:
    """Its process has no id here, its host name is the same, and the clock here is ahead."""
    with Lease(store, layout.NIGHTLY_LOCK, what="nightly", run="alive", clock=in_hours(0), seconds=60):
        lock = json.loads(store.get(layout.NIGHTLY_LOCK))
        elsewhere = lock | {
            "machine": "another container",
            "pid": int(ended_process()),
            "expires": "2020-01-01T00:00:00Z",
        }
        store.put(layout.NIGHTLY_LOCK, json.dumps(lock | elsewhere).encode())
        assert "which may be alive" in run("unlock", "--store", store.root, status=1).stderr
        with pytest.raises(BusyError, match="another nightly is running"):
            Lease(store, layout.NIGHTLY_LOCK, what="nightly", run="b", clock=utc_now, seconds=60).__enter__()


def test_a_living_run_notices_that_it_lost_its_lock(store: FolderStore) -> None:
    with Lease(store, layout.NIGHTLY_LOCK, what="nightly", run="alive", clock=utc_now, seconds=60) as lease:
        lease.check()
        run("unlock", "--store", store.root, "--force")
        with pytest.raises(BusyError, match="lost its lock"):
            lease.write_facts(more=1)


def test_a_held_lock_is_no_problem(store: FolderStore, tmp_path: Path) -> None:
    with Lease(store, layout.NIGHTLY_LOCK, what="nightly", run="alive", clock=utc_now, seconds=60):
        lines = run("doctor", "--store", store.root, "--read-only", "--state", tmp_path / "s").stdout
    assert "ok       lock       private/nightly.lock is held by run alive on " in lines


def test_a_signal_just_after_the_lock_was_written(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    swap = FolderStore.swap

    def interrupted(self: FolderStore, *arguments: Any) -> None:
        swap(self, *arguments)
        monkeypatch.undo()
        raise TerminatedError("ended by SIGTERM")

    monkeypatch.setattr(FolderStore, "swap", interrupted)
    lease = Lease(store, layout.PRUNE_LOCK, what="prune", run="new", clock=utc_now, seconds=60)
    with pytest.raises(TerminatedError), lease:
        raise AssertionError("the lock was taken")
    assert current_holder(store, layout.PRUNE_LOCK, utc_now) is None


@pytest.mark.parametrize("moment", ["start", "join"])
def test_a_signal_while_the_lock_is_taken_or_released(
    store: FolderStore, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = getattr(threading.Thread, moment)

    def signalled(thread: threading.Thread) -> None:
        step(thread)
        if thread.name == f"lease {layout.PRUNE_LOCK}":
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(threading.Thread, moment, signalled)
    lease = Lease(store, layout.PRUNE_LOCK, what="prune", run="new", clock=utc_now, seconds=60)
    with pytest.raises(TerminatedError), end_by_error("prune"), lease:
        pass
    assert current_holder(store, layout.PRUNE_LOCK, utc_now) is None


def test_a_terminated_prune_releases_its_lock(store: FolderStore) -> None:
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


@pytest.mark.thorough
def test_a_terminated_build_leaves_no_intent(tmp_path: Path) -> None:
    lake, store = demo_lake(tmp_path / "lake", 8), FolderStore(str(tmp_path / "store"))
    command = [sys.executable, "-m", "generator", "build", "--lake", lake, "--store", store.root]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stderr=subprocess.PIPE, text=True)
    until(lambda: [*store.list(layout.INTENTS)], 60, "the build has an intent")
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1 and "the build was ended by SIGTERM" in said
    assert [*store.list(layout.INTENTS)] == []
