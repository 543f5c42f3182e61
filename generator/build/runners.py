"""Runners, which execute the tasks of a plan: in the threads of this process, or on another engine.

Each runner has the four methods of `Runner`.
"""

from collections.abc import Callable
from typing import Protocol

import duckdb

from generator.build.context import BuildContext
from generator.build.layers.spec import LayerSpec
from generator.build.plan import BuildPlan
from generator.build.step_times import measured
from generator.build.tasks import Task
from generator.database import lake_fault, temporary_folder_full
from generator.errors import is_disk_full
from generator.pack.output import Inputs, TaskOutput
from generator.pack.writer import Writer

Tick = Callable[[int], object]  # takes the number of objects that were written since the last call


class Runner(Protocol):
    """Executes the tasks of one plan."""

    def begin(self, plan: BuildPlan) -> None:
        """Accept a plan. A runner that works ahead begins now."""
        ...

    def results(self, tasks: list[Task], tick: Tick) -> list[TaskOutput]:
        """Return the outputs of tasks of the plan, in input order.

        What the tasks wrote is in the store at the latest after `settle`.

        Raises:
            LakeError: The lake breaks a rule.
            BuildError: A layer that others are made from is damaged, or the workers are gone.
            StoreError: The store failed.
        """
        ...

    def settle(self) -> None:
        """Wait until everything that the tasks wrote is in the store."""
        ...

    def close(self, *, clear: bool) -> None:
        """Stop. With `clear`, delete the intermediate files: no later run could use them."""
        ...


class ThreadRunner:
    """Executes one task after the other in this process. Each task uses all threads of the context."""

    def __init__(self, context: BuildContext):
        self._context = context
        self._layers: dict[str, LayerSpec] = {}
        self._tasks: dict[str, Task] = {}
        self._outputs: Inputs = {}

    def begin(self, plan: BuildPlan) -> None:
        """Accept a plan."""
        self._layers = {layer.name: layer for layer in plan.layers}
        self._tasks = {task.name: task for task in plan.tasks}

    def results(self, tasks: list[Task], tick: Tick) -> list[TaskOutput]:
        """Return the outputs of tasks; see `Runner.results`."""
        self._context.tick = tick
        return [self._output(task) for task in tasks]

    def settle(self) -> None:
        """Wait for the uploads."""
        self._context.uploads.finish()

    def close(self, *, clear: bool) -> None:
        """Close the context, whose intermediate files are in a temporary folder."""
        self._context.close()

    def _output(self, task: Task) -> TaskOutput:
        if task.name not in self._outputs:
            inputs = {name: self._output(self._tasks[name]) for name in task.needs}
            layer = self._layers.get(task.layer)
            folder, pattern = (layer.folder, layer.pattern) if layer else ("", "")
            self._outputs[task.name] = run_task(self._context, task, folder, pattern, inputs)
        return self._outputs[task.name]


def run_task(context: BuildContext, task: Task, folder: str, pattern: str, inputs: Inputs) -> TaskOutput:
    """Execute a task.

    Args:
        folder: The folder of the layer that it writes, or ''.
        pattern: The pattern of the layer's keys, or ''.
        inputs: The outputs of the tasks that it needs.

    Raises:
        LakeError, BuildError, StoreError: See `Runner.results`.
        SpaceError: The folder of temporary files is full.
    """
    writer = Writer(context.uploads, context.intermediates, task.layer, folder, pattern)
    try:
        with measured(context.step_times, task.name):
            task.work(context, writer, inputs, *task.arguments)
    except duckdb.Error as error:
        raise lake_fault(error, f"lake {context.lake.location}") from error
    except OSError as error:
        if is_disk_full(error):  # errors of the store are StoreErrors, so this is a temporary file
            raise temporary_folder_full() from error
        raise
    return writer.output()
