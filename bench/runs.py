"""Commands of the product as processes that are weighed: wall, CPU, memory."""

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from bench.data import cardpress, environment, say


@dataclass(frozen=True)
class Run:
    """What a command cost: seconds of wall and of CPU, and the most memory that it held at once."""

    wall: float
    cpu: float
    peak_mb: float


def weigh(*arguments: object) -> Run:
    """Run a command of the product to its end.

    Raises:
        SystemExit: it failed.
    """
    began = time.monotonic()
    with subprocess.Popen(
        cardpress(*arguments), env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        said = process.stderr.read()  # type: ignore[union-attr]
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"cardpress {' '.join(map(str, arguments))}: exit {process.returncode}\n{said[-2000:]}")
    return Run(time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6)


def build(lake: Path, store: Path, as_of: str, threads: int) -> Run:
    """Build and publish."""
    run = weigh("build", "--lake", lake, "--store", store, "--as-of", as_of, "--threads", threads, "--publish")
    say(
        f"build of {lake.name} to {as_of}, {threads} threads: "
        f"{run.wall:.1f} s, {run.cpu:.1f} s CPU, {run.peak_mb:.0f} MB"
    )
    return run
