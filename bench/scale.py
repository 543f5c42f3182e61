"""What the tasks of a build cost, and what a cluster adds: the figures of docs/scale.md.

    python -m bench.scale tasks LAKE            one thread: CPU seconds, bytes, PUTs and memory by kind of task
    python -m bench.scale compare LAKE          two threads against `--scheduler local:2`: wall, CPU, greatest memory

`compare` means something on a quiet machine alone; CPU seconds do on any.
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
from dataclasses import dataclass, field
from pathlib import Path

from edge_auth.contract.store.folder import FolderStore
from generator import settings
from generator.build.make import build_id, define_layers, local_context
from generator.build.plan import BuildPlan, plan_build
from generator.build.runners import ThreadRunner
from generator.build.tasks import Task
from generator.lake.lake import open_lake
from generator.pack.output import TaskOutput

_STATUS = Path("/proc/self/status")


@dataclass
class Cost:
    """Sums over the tasks of a kind; `most` is the greatest memory of the process while one ran, in bytes."""

    tasks: int = 0
    seconds: float = 0.0
    written: int = 0
    puts: int = 0
    most: int = 0


@dataclass
class Measured(ThreadRunner):
    """A runner of one thread that keeps accounts."""

    context: object
    costs: dict[str, Cost] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(self.context)

    def _result(self, task: Task) -> TaskOutput:
        if task.name in self._made:
            return self._made[task.name]
        for name in task.needs:
            self._result(self._tasks[name])
        _forget_peak()
        before = time.process_time()
        made = super()._result(task)
        self._workshop.uploads.finish()
        cost = self.costs.setdefault(kind(task), Cost())
        cost.tasks += 1
        cost.seconds += time.process_time() - before
        files = [*made.packs, *made.files, *made.parts.values()]
        cost.written += sum(file.size for file in files)
        cost.puts += len(files)
        cost.most = max(cost.most, _peak())
        return made


def kind(task: Task) -> str:
    """What sort of task it is: its first word, without the year of a history."""
    if task.name.endswith("newest rows"):
        return "newest rows"
    return task.name.partition(" ")[0].partition("-")[0]


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    [line] = [line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def tasks(location: str) -> Iterator[str]:
    """A table of costs by kind of task."""
    with tempfile.TemporaryDirectory(prefix="cardpress-bench-") as folder:
        lake, store = open_lake(location), FolderStore(folder)
        layers = define_layers(lake)
        with closing(local_context(lake, store, 1, settings.WORKER_MEMORY)) as context:
            begun = time.process_time()
            names = [layer.name for layer in layers]
            plan: BuildPlan = plan_build(build_id(lake, layers), lake, layers, names, context)
            runner = Measured(context)
            runner.begin(plan)
            yield f"plan: {len(plan.tasks)} tasks, {time.process_time() - begun:.2f} CPU-s"
            runner.results(plan.tasks, lambda objects: None)
    yield f"{'KIND':<14}{'TASKS':>7}{'CPU-S':>9}{'MB':>9}{'PUTS':>7}{'PEAK MB':>9}"
    for name, cost in runner.costs.items():
        sizes = f"{cost.written / 1e6:>9,.1f}{cost.puts:>7}{cost.most / 1e6:>9,.0f}"
        yield f"{name:<14}{cost.tasks:>7}{cost.seconds:>9.2f}{sizes}"
    yield f"{'all':<14}{len(plan.tasks):>7}{sum(cost.seconds for cost in runner.costs.values()):>9.2f}"


def compare(location: str) -> Iterator[str]:
    """Wall and CPU seconds, and the greatest memory of a process, of the same build by threads and by workers.

    `own` is the CPU of the first process alone: with workers it is client and scheduler.
    """
    for more in (["--threads", "2"], ["--scheduler", "local:2"]):
        store = tempfile.mkdtemp(prefix="cardpress-bench-")
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        command = [sys.executable, "-m", "generator", "build", "--lake", location, "--store", store, *more]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            own = 0.0
            while process.poll() is None:
                own = _own_seconds(process.pid) or own
                time.sleep(0.1)
            said = process.stdout.read().strip()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        wall, most = time.monotonic() - begun, after.ru_maxrss / 1e3
        sums = f"{wall:7.1f} s wall {cpu:7.1f} s CPU, {own:5.1f} of it own, {most:6.0f} MB"
        yield f"{' '.join(more):<20} {said}  {sums}"
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
