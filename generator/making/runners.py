"""Runners, which execute the tasks of a plan, and the execution of one task.

Each runner has the three methods of `Runner`: `thread_runner` is the default, `cluster/` runs on other machines.
"""

from collections.abc import Callable
from typing import Protocol

import duckdb

from generator.database import query_fault, temporary_folder_full
from generator.errors import LakeError, SqlError, is_disk_full
from generator.making.context import BuildContext
from generator.making.plan import BuildPlan
from generator.making.tasks import Task
from generator.pack.writer import Inputs, TaskOutput, Writer

Tick = Callable[[int], object]  # takes the number of objects that were written since the last call


class Runner(Protocol):
    """Executes the tasks of one plan."""

    def begin(self, plan: BuildPlan) -> None:
        """Accept a plan. A runner that works ahead begins now."""
        ...

    def results(self, tasks: list[Task], tick: Tick) -> list[TaskOutput]:
        """Return the outputs of tasks of the plan, in input order. What the tasks wrote is in the store.

        Raises:
            LakeError: The lake breaks a rule.
            BuildError: A layer that others are made from is damaged, or the workers are gone.
            StoreError: The store failed.
        """
        ...

    def close(self, *, clear: bool) -> None:
        """Stop. With `clear`, delete the intermediate files: no later run could use them."""
        ...


def run_task(context: BuildContext, task: Task, folder: str, pattern: str, inputs: Inputs) -> TaskOutput:
    """Execute a task. What it writes is in the store when this returns.

    Args:
        folder: The folder of the layer that it writes, or ''.
        pattern: The pattern of the layer's keys, or ''.
        inputs: The outputs of the tasks that it needs.

    Raises:
        LakeError, BuildError, StoreError: See `Runner.results`.
        SpaceError: The folder of temporary files is full.
        SqlError: The SQL is wrong.
    """
    writer = Writer(context.uploads, context.intermediates, task.layer, folder, pattern)
    try:
        with context.clock.task(task.name):
            task.work(context, writer, inputs, *task.arguments)
            output = writer.output()
            context.uploads.finish()
    except (duckdb.Error, SqlError) as error:
        context.lake.backend.check_unchanged()  # a file that lost a column fails like wrong SQL
        if isinstance(error, SqlError):
            raise
        raise query_fault(error, f"lake {context.lake.location}", LakeError) from error
    except OSError as error:
        if is_disk_full(error):  # errors of the store are StoreErrors, so this is a temporary file
            raise temporary_folder_full() from error
        raise
    return output
