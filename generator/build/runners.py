"""Who does the tasks of a plan: this process with its threads, or another engine with the same four methods.

A runner gives what tasks have made; what they wrote lies in the store by then or, at the latest, after `settle`.
"""

from collections.abc import Callable
from typing import Protocol

import duckdb

from generator.build.context import BuildContext
from generator.build.layers.spec import LayerSpec
from generator.build.plan import BuildPlan
from generator.build.tasks import Task
from generator.errors import LakeError
from generator.pack.output import Inputs, TaskOutput
from generator.pack.writer import Writer

Tick = Callable[[int], object]


class Runner(Protocol):
    """Does the tasks of one plan."""

    def begin(self, plan: BuildPlan) -> None:
        """Take a plan; whoever works ahead begins."""
        ...

    def results(self, tasks: list[Task], tick: Tick) -> list[TaskOutput]:
        """What tasks of the plan have made, in their order; `tick` is told how many objects more there are.

        Raises:
            LakeError: the lake breaks a rule.
            BuildError: a layer that others are made from is damaged; whoever works is gone.
            StoreError: the store failed.
        """
        ...

    def settle(self) -> None:
        """Wait until all that was inputs is in the store."""
        ...

    def close(self, *, clear: bool) -> None:
        """Stop; `clear`: delete parts, since no later run could go on with them."""
        ...


class ThreadRunner:
    """Does one task after another, each on all threads of a context of this process."""

    def __init__(self, context: BuildContext):
        self._workshop = context
        self._folders: dict[str, LayerSpec] = {}
        self._tasks: dict[str, Task] = {}
        self._made: Inputs = {}

    def begin(self, plan: BuildPlan) -> None:
        self._folders = {layer.name: layer for layer in plan.layers}
        self._tasks = {task.name: task for task in plan.tasks}

    def results(self, tasks: list[Task], tick: Tick) -> list[TaskOutput]:
        self._workshop.tick = tick
        return [self._result(task) for task in tasks]

    def settle(self) -> None:
        self._workshop.uploads.finish()

    def close(self, *, clear: bool) -> None:
        self._workshop.close()

    def _result(self, task: Task) -> TaskOutput:
        if task.name not in self._made:
            inputs = {name: self._result(self._tasks[name]) for name in task.needs}
            layer = self._folders.get(task.layer)
            folder, pattern = (layer.folder, layer.pattern) if layer else ("", "")
            self._made[task.name] = run_task(self._workshop, task, folder, pattern, inputs)
        return self._made[task.name]


def run_task(context: BuildContext, task: Task, folder: str, pattern: str, inputs: Inputs) -> TaskOutput:
    """Do a task.

    Args:
        folder, pattern: of the layer that it writes.
        inputs: what the tasks that it needs have made.

    Raises:
        LakeError, BuildError, StoreError: see `Runner.results`.
    """
    writer = Writer(context.uploads, context.scratch, task.layer, folder, pattern)
    try:
        task.work(context, writer, inputs, *task.arguments)
    except duckdb.Error as error:
        first = str(error).strip().splitlines()[0]
        raise LakeError(f"lake {context.lake.location}: {first}") from error
    return writer.made()
