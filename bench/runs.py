"""Runs commands of the product as processes and measures their wall time, CPU time and memory."""

import json
import subprocess
import sys
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
    command = [sys.executable, str(ROOT / "bench" / "measured.py"), *cardpress(*arguments)]
    process = subprocess.run(command, env=environment(code), capture_output=True, text=True, cwd=code)
    if process.returncode:
        raise SystemExit(
            f"cardpress {' '.join(map(str, arguments))}: exit {process.returncode}\n{process.stderr[-2000:]}"
        )
    return Run(**json.loads(process.stdout))


def build(lake: Path, store: Path, as_of: str, threads: int, code: Path = ROOT) -> Run:
    """Build and publish with the code of a version, and return the cost; see `measure_command`."""
    arguments = "build", "--lake", lake, "--store", store, "--as-of", as_of, "--threads", threads, "--publish"
    run = measure_command(*arguments, code=code)
    print_progress(
        f"build of {lake.name} to {as_of}, {threads} threads{', version 1.0' * (code != ROOT)}: "
        f"{run.wall:.1f} s, {run.cpu:.1f} s CPU, {run.peak_mb:.0f} MB"
    )
    return run
