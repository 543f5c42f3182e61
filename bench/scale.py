"""Measures the tasks of a build, and the overhead of a cluster: the figures of docs/where-it-runs.md.

    python -m bench.scale tasks LAKE            one thread: CPU seconds, bytes, PUTs and memory by kind of task
    python -m bench.scale compare LAKE          two threads against `--scheduler local:2`: wall, CPU, greatest memory

CPU seconds are meaningful on any machine, `compare` only on a quiet one.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from generator.lake.lake import open_lake
from generator.making.layer import Task
from generator.making.make import BuildRun
from generator.making.runners import ThreadRunner
from generator.making.work import BuildContext
from generator.storage.stores.folder import FolderStore
from generator.threads import ONE_THREAD

_STATUS = Path("/proc/self/status")


@dataclass
class Cost:
    """Sums over the tasks of a kind, and the greatest memory of the process while one of them ran."""

    tasks: int = 0
    cpu_seconds: float = 0.0
    written_bytes: int = 0
    puts: int = 0
    peak_bytes: int = 0


class MeasuringRunner(ThreadRunner):
    """A runner of one thread that measures each task."""

    def __init__(self, context: BuildContext, tasks: list[Task]):
        super().__init__(context, tasks)
        self.costs: dict[str, Cost] = {}

    def _execute(self, context: BuildContext, task: Task) -> None:
        _reset_peak()
        before = time.process_time()
        super()._execute(context, task)
        cost = self.costs.setdefault(kind(task), Cost())
        cost.tasks += 1
        cost.cpu_seconds += time.process_time() - before
        output = self._outputs[task.name]
        files = [*output.packs, *output.files, *output.intermediates.values()]
        cost.written_bytes += sum(file.size for file in files)
        cost.puts += len(files)
        cost.peak_bytes = max(cost.peak_bytes, _peak_bytes())


def kind(task: Task) -> str:
    """Return the kind of a task: the first word of its name, without the year of a history."""
    if task.name.endswith("newest rows"):
        return "newest rows"
    return task.name.partition(" ")[0].partition("-")[0]


def _reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak_bytes() -> int:
    [line] = [line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def tasks(location: str) -> Iterator[str]:
    """Build a lake in a temporary store and yield the lines of a table of costs by kind of task."""
    with tempfile.TemporaryDirectory(prefix="cardpress-bench-") as folder:
        lake, store = open_lake(location), FolderStore(folder)
        with closing(BuildContext(lake, store, ONE_THREAD)) as context:
            begun = time.process_time()
            plan = BuildRun(context).plan()
            runner = MeasuringRunner(context, plan.tasks)
            yield f"plan: {len(plan.tasks)} tasks, {time.process_time() - begun:.2f} CPU-s"
            runner.results(plan.tasks, lambda objects: None)
    yield f"{'KIND':<14}{'TASKS':>7}{'CPU-S':>9}{'MB':>9}{'PUTS':>7}{'PEAK MB':>9}"
    for name, cost in runner.costs.items():
        sizes = f"{cost.written_bytes / 1e6:>9,.1f}{cost.puts:>7}{cost.peak_bytes / 1e6:>9,.0f}"
        yield f"{name:<14}{cost.tasks:>7}{cost.cpu_seconds:>9.2f}{sizes}"
    yield f"{'all':<14}{len(plan.tasks):>7}{sum(cost.cpu_seconds for cost in runner.costs.values()):>9.2f}"


def compare(location: str) -> Iterator[str]:
    """Yield wall and CPU seconds and the greatest memory of a process for the same build by threads and by workers.

    `own` is the CPU time of the first process alone. With workers that is client and scheduler.
    """
    for options in (["--threads", "2"], ["--scheduler", "local:2"]):
        store = tempfile.mkdtemp(prefix="cardpress-bench-")
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        command = [sys.executable, "-m", "generator", "build", "--lake", location, "--store", store, *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            own = 0.0
            while process.poll() is None:
                own = _own_seconds(process.pid) or own
                time.sleep(0.1)
            assert process.stdout
            output = process.stdout.read().strip()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        wall, peak_mb = time.monotonic() - begun, after.ru_maxrss / 1e3
        sums = f"{wall:7.1f} s wall {cpu:7.1f} s CPU, {own:5.1f} of it own, {peak_mb:6.0f} MB"
        yield f"{' '.join(options):<20} {output}  {sums}"
        shutil.rmtree(store)


def _own_seconds(pid: int) -> float | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    for line in {"tasks": tasks, "compare": compare}[sys.argv[1]](sys.argv[2]):
        print(line, flush=True)
