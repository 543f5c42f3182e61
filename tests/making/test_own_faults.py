"""Errors of tasks: which one is raised, and how soon a build ends.

An error in the SQL of cardpress is an internal error that names the file. The lake is not blamed for it.
"""

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from generator import database
from generator.errors import LakeError, SqlError
from generator.lake.lake import open_lake
from generator.making import runners
from generator.making.lake_tables import CATALOGUE
from generator.making.layer import Task
from generator.making.make import make_build
from generator.making.runners import ThreadRunner, run_task
from generator.making.work import BuildContext, Work
from generator.storage.stores.folder import FolderStore
from generator.threads import ONE_THREAD, Resources
from tests.support.commands import run
from tests.support.nights import DAYS, QUIET, demo_lake
from tests.support.service import until

ENDLESS = "select sum(a.range * b.range) from range(1000000) as a, range(1000000) as b"  # a query of many minutes
Edit = Callable[[str, str, str], None]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults") / "lake"
    run("demo", folder, "--products", 20, "--days", 2, "--end", "2025-11-16")
    return folder


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Edit]:
    """Replace a text in a file of a copy of `build/`, which the generator reads instead of its own."""
    root = shutil.copytree(database.sql_root(), tmp_path / "build")
    caches = (database.sql_text, database._environment)

    def replace(file: str, old: str, new: str) -> None:
        text = (root / file).read_text("utf-8")
        assert old in text
        (root / file).write_text(text.replace(old, new), "utf-8")

    with monkeypatch.context() as patched:
        patched.setattr(database, "sql_root", lambda: root)
        for cached in caches:
            cached.cache_clear()
        yield replace
    for cached in caches:
        cached.cache_clear()


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("views/cards.sql", "p.rarity", "p.raritty", "Binder Error"),
        ("sources/expansions.sql", "select", "selec", "Parser Error"),
        ("views/sets.sql", "coalesce(", "coalesced(", "Catalog Error"),
        ("checks/expansions.sql.j2", "name is null", "title is null", "Binder Error"),
        ("views/newest.sql.j2", "{% for", "{% fro", "unknown tag"),
    ],
)
def test_wrong_sql_is_named(lake: Path, edit: Edit, tmp_path: Path, file: str, old: str, new: str, reason: str) -> None:
    edit(file, old, new)
    line = run("build", "--lake", lake, "--store", tmp_path / "store", status=1).stderr.splitlines()[-1]
    assert line.startswith(f"cardpress: internal error in build/{file}: ") and reason in line
    assert line.endswith("not of your data: please report this line") and "lake" not in line.partition(": this is")[2]
    assert not list((tmp_path / "store").glob("builds/*"))


def test_a_wrong_query_of_a_task_is_no_fault_of_the_lake(lake: Path, tmp_path: Path) -> None:
    with closing(BuildContext(open_lake(str(lake)), FolderStore(str(tmp_path)), ONE_THREAD)) as context:
        task = Task("task", "", lambda work: work.db.rows("select no_such_column from (select 1)"))
        with pytest.raises(SqlError, match="no_such_column"):
            run_task(context, task, {})


def test_a_file_that_loses_a_column_is_a_fault_of_the_lake(lake: Path, tmp_path: Path) -> None:
    """DuckDB raises the same error as for wrong SQL."""
    copy = shutil.copytree(lake, tmp_path / "lake")
    with closing(BuildContext(open_lake(str(copy)), FolderStore(str(tmp_path / "store")), ONE_THREAD)) as context:

        def lose_column(work: Work) -> None:
            work.tables.open(CATALOGUE)
            pq.write_table(pa.table({"other": [1]}), copy / "expansions.parquet")
            work.db.rows("from expansions")

        with pytest.raises(LakeError, match=r"expansions\.parquet changed"):
            run_task(context, Task("task", "", lose_column), {})


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
        database, clock = work.db, time.pthread_getcpuclockid(threading.get_ident())
        begun = time.clock_gettime(clock)  # of this thread, which computes in the query: a signal before ends all tests

        def interrupt() -> None:
            until(lambda: time.clock_gettime(clock) > begun + 0.2, 60, "the query runs")
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        database.rows(ENDLESS)

    context = BuildContext(open_lake(str(lake)), FolderStore(str(tmp_path)), ONE_THREAD)
    query = Task("query", "", run, main_thread=True)
    runner = ThreadRunner(context, [query])
    with pytest.raises(RuntimeError, match="Query interrupted"):
        list(runner.results([query], lambda objects: None))
    runner.close()
