"""Cores and memory are those that the process may use, not those of the host."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import duckdb
import pytest

from generator import threads
from generator.database import Database
from generator.errors import BuildError
from generator.threads import Resources, default_memory, usable_cores, usable_memory
from tests.support.service import ROOT, environment

GIB = 1 << 30


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty tree of control groups on a machine of 64 cores."""
    monkeypatch.setattr(threads, "_CGROUPS", tmp_path)
    monkeypatch.setattr(threads, "_OWN_CGROUPS", tmp_path / "own")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    return tmp_path


def write(group: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (group / name).parent.mkdir(parents=True, exist_ok=True)
        (group / name).write_text(text + "\n")


@pytest.mark.parametrize(
    ("files", "cores", "memory"),
    [
        ({}, 64, None),
        ({"own": "0::/a/b", "a/b/cpu.max": "150000 100000", "a/b/memory.max": str(GIB)}, 2, GIB),
        (
            {"own": "0::/a/b", "a/b/cpu.max": "max 100000", "a/cpu.max": "300000 100000", "a/b/memory.max": "max"},
            3,
            None,
        ),
        ({"own": "0::/a/b", "cpu.max": "50000 100000", "memory.max": str(GIB)}, 1, GIB),  # the path of the host
        (
            {
                "own": "4:memory:/a\n1:cpu,cpuacct:/a",
                "cpu,cpuacct/a/cpu.cfs_quota_us": "400000",
                "cpu,cpuacct/a/cpu.cfs_period_us": "100000",
                "memory/a/memory.limit_in_bytes": str(2 * GIB),
            },
            4,
            2 * GIB,
        ),
        ({"own": "1:cpu:/", "cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 64, None),
        ({"own": "2:memory:/", "memory/memory.limit_in_bytes": str(2**63 - 4096)}, 64, None),
    ],
)
def test_limits_of_a_container(group: Path, files: dict[str, str], cores: int, memory: int | None) -> None:
    write(group, files)
    assert (usable_cores(), usable_memory()) == (cores, memory)


def test_duckdb_follows(group: Path) -> None:
    write(group, {"own": "0::/", "cpu.max": "200000 100000", "memory.max": str(GIB)})
    with closing(Database()) as opened:
        [(cores, memory)] = opened.rows("select current_setting('threads'), current_setting('memory_limit')")
    assert (cores, memory) == (2, "512.0 MiB")
    assert default_memory("100MB") == "100MB"


def test_the_option_is_named_where_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BuildError, match=r": see --memory, such as 2GB$"):
        Database(Resources(memory="much"))
    monkeypatch.setattr(duckdb, "connect", Mock(side_effect=duckdb.OutOfMemoryException("full")))
    with pytest.raises(BuildError, match=r"^DuckDB does not start \(full\)$"):
        Database()


def test_process_one_of_a_container_ends_by_sigterm() -> None:
    """The kernel drops the signal for a process 1 without a handler, however early it comes."""
    script = "import generator.__main__; print('up', flush=True); import time; time.sleep(600)"
    command = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", script]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if process.stdout.readline() != b"up\n":
        pytest.skip("only root can make a namespace of processes")
    [child] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(child), signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
