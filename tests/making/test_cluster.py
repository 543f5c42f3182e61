"""A build by several worker processes has the same bytes as a build by one, also if workers or the scheduler die."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from generator.errors import BuildError
from generator.lake.lake import open_lake
from generator.making.make import make_build
from generator.storage.layout import WORK as FOLDER
from generator.storage.stores.folder import FolderStore
from generator.storage.stores.open import open_store
from generator.threads import ONE_THREAD, Resources
from tests.support import commands
from tests.support.lake_edits import rewrite
from tests.support.nights import QUIET, demo_lake
from tests.support.ports import free_port
from tests.support.s3_fixtures import on_s3
from tests.support.s3_servers import S3Server, best
from tests.support.service import ROOT, environment, run, until

pytestmark = [
    *on_s3,
    pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed"),
    pytest.mark.thorough,
]
DAYS = 50
LEFT_OUT = tuple(f"{day:02}" for day in range(5, 31))


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some days of every month."""
    lake = demo_lake(tmp_path_factory.mktemp("cluster") / "lake", DAYS)
    for day in lake.glob("*/day=*"):
        if day.name.endswith(LEFT_OUT):
            shutil.rmtree(day)
    return lake


@pytest.fixture(scope="module")
def alone(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, bytes]]:
    """The build that one process makes: its id, and its files by name."""
    store = FolderStore(str(tmp_path_factory.mktemp("alone") / "store"))
    built = make_build(open_lake(str(lake)), store, resources=Resources(2, "1GB"), progress=QUIET)
    return built.id, contents(store)


def contents(store) -> dict[str, bytes]:
    """What a store holds of builds: all layers, packs and indexes; what tasks leave for each other must be gone."""
    assert list(store.list(FOLDER)) == []
    return {name: store.get(name) for name in store.list("layers/")}


class Dask:
    """A scheduler and its workers as processes of their own, as an operator would start them."""

    def __init__(self, folder: Path, stack: ExitStack, workers: int, **variables: str):
        self._folder, self._stack, self._variables = folder, stack, variables
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self.scheduler, _ = self._start(
            "scheduler", "--no-dashboard", "--host=127.0.0.1", f"--port={self.address[16:]}"
        )
        self.workers = self.more(workers)

    def more(self, count: int) -> list[subprocess.Popen]:
        """Start more workers, and wait until they are ready."""
        started = [
            self._start("worker", self.address, "--nthreads=1", "--no-nanny", "--no-dashboard") for _ in range(count)
        ]
        for _, log in started:
            until(lambda log=log: "Registered to" in log.read_text(), 60, "a worker is registered")
        return [process for process, _ in started]

    def _start(self, what: str, *arguments: str) -> tuple[subprocess.Popen, Path]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments]
        log = self._folder / f"{what}-{time.monotonic_ns()}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(command, cwd=ROOT, env=environment() | self._variables, stdout=file, stderr=file)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process, log


@pytest.fixture(scope="module")
def dask(servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    """Two workers that find the best S3 server there is."""
    folder = tmp_path_factory.mktemp("dask")
    variables = servers(best()).environment()
    with ExitStack() as stack:
        yield Dask(folder, stack, 2, **variables, XDG_CACHE_HOME=str(folder / "cache"))


@contextmanager
def building(lake: Path, store: FolderStore, dask: Dask) -> Iterator[subprocess.Popen]:
    """Start a build, and wait until its first task has written something."""
    command = [sys.executable, "-m", "generator", "build", "--lake", lake, "--store", store.root]
    with subprocess.Popen(
        [*map(str, command), "--publish", "--scheduler", dask.address],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            until(lambda: process.poll() is not None or written(store), 60, "a task has written a file")
            yield process
        finally:
            process.kill()


def written(store: FolderStore) -> bool:
    return any(True for folder in (FOLDER, "layers/") for _ in store.list(folder))


def test_two_workers_and_a_bucket(lake: Path, alone, dask: Dask, server: S3Server) -> None:
    """Lake and store both in S3; the folder store is the next test's."""
    bucket = server.bucket()
    for path in (path for path in lake.rglob("*.*") if path.is_file()):
        server.client().put_object(Bucket=bucket, Key=f"in/{path.relative_to(lake)}", Body=path.read_bytes())
    store = f"s3://{bucket}/out"
    result = run("build", "--lake", f"s3://{bucket}/in", "--store", store, "--scheduler", dask.address)
    assert result.stdout.strip() == alone[0]
    assert contents(open_store(store)) == alone[1]


def test_a_worker_killed_at_work(lake: Path, alone, dask: Dask, tmp_path: Path) -> None:
    store = FolderStore(str(tmp_path / "store"))
    with building(lake, store, dask) as process:
        dask.workers.pop().kill()
        output, errors = process.communicate(timeout=120)
    dask.workers += dask.more(1)
    assert process.returncode == 0, errors
    assert output.splitlines()[-1] == alone[0]
    assert contents(store) == alone[1]


def test_bad_input_gives_the_same_error_as_on_one_machine(lake: Path, tmp_path: Path) -> None:
    broken = tmp_path / "lake"
    shutil.copytree(lake, broken)
    [file] = (broken / "price_guide" / "day=2025-12-03").glob("*.parquet")
    rewrite(file, "select * replace (-1.0 as low) from rows")
    command = "build", "--lake", broken, "--store", tmp_path / "store"
    here = commands.run(*command, status=1).stderr.splitlines()[-1]
    there = run(*command, "--scheduler", "local:1", status=1).stderr.splitlines()[-1]
    assert here == there and "price_guide: column low" in there
    assert list(FolderStore(str(tmp_path / "store")).list("builds/")) == []


def test_a_scheduler_that_is_gone(lake: Path, alone, dask: Dask, tmp_path: Path) -> None:
    """Nothing is published. The next run finishes the build."""
    store = FolderStore(str(tmp_path / "store"))
    with ExitStack() as stack:
        other = Dask(tmp_path, stack, 1)
        with building(lake, store, other) as process:
            other.scheduler.kill()
            _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert f"cardpress: the Dask scheduler {other.address} is gone: nothing was published" in errors.splitlines()[-1]
    assert store.stat("current.json") is None and list(store.list("builds/")) == []
    with building(lake, store, dask) as process:
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert output.splitlines()[-1] == alone[0]
    assert contents(store) == alone[1]


def test_a_worker_with_other_code_is_refused_by_name(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers run the code of this checkout; this client has other code."""
    monkeypatch.setattr("generator.making.cluster.code_sha256", lambda: "0" * 64)
    opened, store = open_lake(str(lake)), FolderStore(str(tmp_path))
    with pytest.raises(BuildError, match=r"worker [^ ]+ \(process [0-9]+\) has code [0-9a-f]{12}, the client 0{12}: "):
        make_build(opened, store, resources=ONE_THREAD, progress=QUIET, scheduler="local:1")
    assert list(store.list("builds/")) == []


def test_a_client_without_workers_says_so_and_ends(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr("generator.making.cluster._SILENT_SECONDS", 0.2)
    monkeypatch.setattr("generator.making.cluster._WITHOUT_WORKERS_SECONDS", 0.5)
    opened, store = open_lake(str(lake)), FolderStore(str(tmp_path))
    with LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        with pytest.raises(BuildError, match=f"{address} has no worker: start one with `dask worker`"):
            make_build(opened, store, resources=ONE_THREAD, progress=QUIET, scheduler=address)
    assert f"the Dask scheduler {address} has no worker: waiting for one" in capsys.readouterr().err
    assert list(store.list("builds/")) == []


def test_no_scheduler_there(lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generator.making.cluster._CONNECT_SECONDS", 1)
    opened, store = open_lake(str(lake)), FolderStore(str(tmp_path))
    address = f"tcp://127.0.0.1:{free_port()}"
    for scheduler, output in ((address, f"no Dask scheduler answers at {address}"), ("local:none", "such as local:2")):
        with pytest.raises(BuildError, match=output):
            make_build(opened, store, resources=ONE_THREAD, progress=QUIET, scheduler=scheduler)
    assert list(store.list("builds/")) == []
