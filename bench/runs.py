"""Runs commands of the product as processes and measures their wall time, CPU time and memory."""

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from bench.data import ROOT, cardpress, environment, print_progress


@dataclass(frozen=True)
class Run:
    """The cost of a command: seconds of wall and CPU time, and its greatest memory in MB."""

    wall: float
    cpu: float
    peak_mb: float


def measure_command(*arguments: object, code: Path = ROOT) -> Run:
    """Run a command of the product to its end and return its cost.

    Args:
        code: The folder of the code, such as that of another version.

    Raises:
        SystemExit: The command failed.
    """
    began = time.monotonic()
    with subprocess.Popen(
        cardpress(*arguments),
        env=environment(code),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=code,
    ) as process:
        assert process.stderr
        log = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"cardpress {' '.join(map(str, arguments))}: exit {process.returncode}\n{log[-2000:]}")
    return Run(time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6)


def build(lake: Path, store: Path, as_of: str, threads: int, code: Path = ROOT) -> Run:
    """Build and publish with the code of a version, and return the cost."""
    run = measure_command(
        "build", "--lake", lake, "--store", store, "--as-of", as_of, "--threads", threads, "--publish", code=code
    )
    print_progress(
        f"build of {lake.name} to {as_of}, {threads} threads{', version 1.0' * (code != ROOT)}: "
        f"{run.wall:.1f} s, {run.cpu:.1f} s CPU, {run.peak_mb:.0f} MB"
    )
    return run
