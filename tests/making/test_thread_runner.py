"""The runner in threads: which thread executes what, which error is raised, and how soon it ends."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from edge_auth.store.folder import FolderStore
from generator.errors import LakeError
from generator.lake.lake import open_lake
from generator.making import runners
from generator.making.context import BuildContext
from generator.making.layer import Task
from generator.making.make import make_build
from generator.making.runners import ThreadRunner
from generator.making.work import Work
from generator.threads import ONE_THREAD, Resources
from tests.support.nights import DAYS, QUIET, demo_lake

ENOUGH_ROWS = 1_000_000  # for a second thread
ENDLESS = "select sum(a.range * b.range) from range(1000000) as a, range(1000000) as b"  # a query of many minutes


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_lake(tmp_path_factory.mktemp("threads") / "lake", DAYS)


@pytest.fixture
def context(lake: Path, tmp_path: Path) -> Iterator[BuildContext]:
    with closing(BuildContext(open_lake(str(lake)), FolderStore(str(tmp_path)), Resources(2))) as opened:
        yield opened


def begun(context: BuildContext, *tasks: Task) -> ThreadRunner:
    return ThreadRunner(context, list(tasks))


def results(runner: ThreadRunner, *tasks: Task) -> list[dict[str, Any]]:
    return [output.intermediates for output in runner.results(list(tasks), lambda objects: None)]


def test_each_thread_takes_what_is_ready(context: BuildContext) -> None:
    """The second thread waits inside its task until the first one has executed another."""
    met, threads = threading.Event(), {}

    def run(work: Work, name: str) -> None:
        threads[name] = threading.current_thread()
        work.add_intermediate(name, " ".join(sorted(work.inputs)).encode())
        if name == "in main":
            met.set()
        assert met.wait(30)

    apart = Task("apart", "", run, ("apart",), rows=ENOUGH_ROWS)
    main = Task("in main", "", run, ("in main",), main_thread=True)
    both = Task("both", "", run, ("both",), needs=("apart", "in main"), main_thread=True)
    runner = begun(context, apart, main, both)
    [found] = results(runner, both)
    assert found["both"].size == len("apart in main")
    assert threads["in main"] is threads["both"] is threading.main_thread()
    runner.close()


@pytest.mark.parametrize("slow", ["first", "second"])
def test_the_first_error_of_the_plan_is_raised(context: BuildContext, slow: str) -> None:
    """Both tasks have begun before either fails. The slow one fails after the other."""
    begin, failed = threading.Barrier(2, timeout=30), threading.Event()

    def run(work: Work, name: str) -> None:
        begin.wait()
        if name == slow:
            assert failed.wait(30)
        failed.set()
        raise LakeError(name)

    tasks = [Task(name, "", run, (name,), rows=ENOUGH_ROWS) for name in ("first", "second")]
    runner = begun(context, *tasks)
    with pytest.raises(LakeError, match="first"):
        results(runner, *reversed(tasks))
    runner.close()


def test_close_ends_a_query_of_another_thread(context: BuildContext) -> None:
    running = threading.Event()

    def run(work: Work) -> None:
        running.set()
        work.db.rows(ENDLESS)

    runner = begun(context, Task("query", "", run, rows=ENOUGH_ROWS * 2))
    assert running.wait(30)
    started = time.monotonic()
    runner.close()
    assert time.monotonic() - started < 20


def test_a_damaged_lake_fails_alike_in_threads(lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two months break a rule: the message names the earlier one."""
    monkeypatch.setattr(runners, "_MIN_ROWS_PER_THREAD", 1)
    damaged = tmp_path / "lake"
    demo_lake(damaged, DAYS)
    for day in ("2025-12-10", "2025-11-20"):
        for file in (damaged / "listings" / f"day={day}").iterdir():
            file.write_bytes(b"PAR1 is no Parquet file")
    for number in range(3):
        store = FolderStore(str(tmp_path / str(number)))
        with pytest.raises(LakeError, match="day=2025-11-20"):
            make_build(open_lake(str(damaged)), store, resources=Resources(2, "1GB"), progress=QUIET)
        assert not list(store.list("builds/"))


def test_ctrl_c_inside_a_query_ends_the_build_at_once(lake: Path, tmp_path: Path) -> None:
    """A database of one thread, as the threads of a build have it, looks for signals during a query."""

    def run(work: Work) -> None:
        database = work.db  # opened before the clock runs: a signal meanwhile ends no query
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        database.rows(ENDLESS)

    context = BuildContext(open_lake(str(lake)), FolderStore(str(tmp_path)), ONE_THREAD)
    query = Task("query", "", run, main_thread=True)
    runner = begun(context, query)
    with pytest.raises(RuntimeError, match="Query interrupted"):
        results(runner, query)
    runner.close()
