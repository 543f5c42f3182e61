"""The runner in threads: which error is raised, and how soon it ends."""

import os
import signal
import threading
from pathlib import Path

import pytest

from edge_auth.store.folder import FolderStore
from generator.errors import LakeError
from generator.lake.lake import open_lake
from generator.making import runners
from generator.making.layer import Task
from generator.making.make import make_build
from generator.making.runners import ThreadRunner
from generator.making.work import BuildContext, Work
from generator.threads import ONE_THREAD, Resources
from tests.support.nights import DAYS, QUIET, demo_lake

ENDLESS = "select sum(a.range * b.range) from range(1000000) as a, range(1000000) as b"  # a query of many minutes


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_lake(tmp_path_factory.mktemp("threads") / "lake", DAYS)


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
    runner = ThreadRunner(context, [query])
    with pytest.raises(RuntimeError, match="Query interrupted"):
        list(runner.results([query], lambda objects: None))
    runner.close()
