"""Who does the tasks of a plan: this process with its threads, or another engine with the same four methods.

A runner gives what tasks have made; what they wrote lies in the store by then or, at the latest, after `settle`.
"""

from collections.abc import Callable
from typing import Protocol

import duckdb

from generator.errors import LakeError
from generator.layers.spec import LayerPlan
from generator.packs import Writer
from generator.plan import Plan
from generator.tasks import Given, Made, Task
from generator.workshop import Workshop

Tick = Callable[[int], object]


class Runner(Protocol):
    """Does the tasks of one plan."""

    def begin(self, plan: Plan) -> None:
        """Take a plan; whoever works ahead begins."""
        ...

    def results(self, tasks: list[Task], tick: Tick) -> list[Made]:
        """What tasks of the plan have made, in their order; `tick` is told how many objects more there are.

        Raises:
            LakeError: the lake breaks a rule.
            BuildError: a layer that others are made from is damaged; whoever works is gone.
            StoreError: the store failed.
        """
        ...

    def settle(self) -> None:
        """Wait until all that was given is in the store."""
        ...

    def close(self, *, clear: bool) -> None:
        """Stop; `clear`: delete parts, since no later run could go on with them."""
        ...


class Threads:
    """Does one task after another, each on all threads of a workshop of this process."""

    def __init__(self, workshop: Workshop):
        self._workshop = workshop
        self._folders: dict[str, LayerPlan] = {}
        self._tasks: dict[str, Task] = {}
        self._made: Given = {}

    def begin(self, plan: Plan) -> None:
        self._folders = {layer.name: layer for layer in plan.layers}
        self._tasks = {task.name: task for task in plan.tasks}

    def results(self, tasks: list[Task], tick: Tick) -> list[Made]:
        self._workshop.tick = tick
        return [self._result(task) for task in tasks]

    def settle(self) -> None:
        self._workshop.uploads.finish()

    def close(self, *, clear: bool) -> None:
        self._workshop.close()

    def _result(self, task: Task) -> Made:
        if task.name not in self._made:
            given = {name: self._result(self._tasks[name]) for name in task.needs}
            layer = self._folders.get(task.layer)
            folder, pattern = (layer.folder, layer.pattern) if layer else ("", "")
            self._made[task.name] = done(self._workshop, task, folder, pattern, given)
        return self._made[task.name]


def done(workshop: Workshop, task: Task, folder: str, pattern: str, given: Given) -> Made:
    """Do a task.

    Args:
        folder, pattern: of the layer that it writes.
        given: what the tasks that it needs have made.

    Raises:
        LakeError, BuildError, StoreError: see `Runner.results`.
    """
    writer = Writer(workshop.uploads, workshop.scratch, task.layer, folder, pattern)
    try:
        task.work(workshop, writer, given, *task.arguments)
    except duckdb.Error as error:
        first = str(error).strip().splitlines()[0]
        raise LakeError(f"lake {workshop.lake.location}: {first}") from error
    return writer.made()
