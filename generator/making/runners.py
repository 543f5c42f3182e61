"""What executes the tasks of a plan: the execution of one task, and the runner in threads of this process.

A runner has the methods of `Runner`. `ThreadRunner` is the default: each of its threads takes the first task that is
ready. `cluster` runs on other machines.

Each thread has its own database of one thread. Two threads inside one database need more CPU for the same month, and
most steps of a query run in one of them.
"""

from collections.abc import Callable
from threading import Condition, Thread
from typing import Protocol

import duckdb

from generator.database import query_fault, temporary_folder_full
from generator.errors import LakeError, SqlError, is_disk_full, is_signal
from generator.making.layer import Task
from generator.making.work import BuildContext, Work
from generator.pack.layer_writer import Inputs, TaskOutput

Tick = Callable[[int], object]  # takes the number of objects of a task that has ended
# A plan of fewer rows per thread takes about as long in one thread, and another database costs 0.2 s of CPU.
_MIN_ROWS_PER_THREAD = 500_000
_MAX_THREADS = 4  # each may hold a month in memory
_INTERRUPT_SECONDS = 0.05  # between two attempts to end a query


class Runner(Protocol):
    """Executes the tasks of one plan. It may begin before it is asked for results."""

    def results(self, tasks: list[Task], tick: Tick) -> list[TaskOutput]:
        """Return the outputs of tasks of the plan, in input order. What the tasks wrote is in the store."""
        ...

    def close(self) -> None:
        """Stop, and delete the intermediate files."""
        ...


def run_task(context: BuildContext, task: Task, inputs: Inputs) -> TaskOutput:
    """Execute a task from the outputs of the tasks that it needs. What it writes is in the store when this returns."""
    work = Work(context, task.layer, inputs)
    try:
        task.run(work, *task.arguments)
        output = work.output()
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


class ThreadRunner:
    """A `Runner` of the caller's thread and of others, which begin at once if the tasks read enough rows.

    Which thread was faster does not matter: of several errors, the first one in the order of the plan is raised.
    """

    def __init__(self, context: BuildContext, tasks: list[Task]):
        self._context = context
        self._places = {task.name: place for place, task in enumerate(tasks)}
        self._waiting = list(tasks)
        self._outputs: dict[str, TaskOutput] = {}
        self._errors: dict[int, BaseException] = {}  # by the place of the task
        self._bar: tuple[str, Tick] = "", lambda objects: None  # the layer that the progress bar shows
        self._changed = Condition()  # guards all of the above
        count = min(context.resources.cores, sum(task.rows for task in tasks) // _MIN_ROWS_PER_THREAD, _MAX_THREADS)
        contexts = context.split(count) if count > 1 else []
        self._threads = {Thread(target=self._work, args=(part,), name="tasks", daemon=True): part for part in contexts}
        for thread in self._threads:
            thread.start()

    def results(self, tasks: list[Task], tick: Tick) -> list[TaskOutput]:
        """Return the outputs of tasks; see `Runner.results`."""
        layer = tasks[0].layer
        with self._changed:
            self._bar = layer, tick
            tick(sum(task.objects for task in tasks if task.name in self._outputs))
        while task := self._take(wanted=tasks):
            self._execute(self._context, task)
        if self._errors:
            self._join()
            raise self._errors[min(self._errors)]
        return [self._outputs[task.name] for task in tasks]

    def close(self) -> None:
        """End the threads. Intermediate files are in the temporary folder of the context."""
        self._join(interrupt=True)

    def _work(self, context: BuildContext) -> None:
        while task := self._take():
            self._execute(context, task)
        context.close()

    def _take(self, wanted: list[Task] | None = None) -> Task | None:
        """Wait for a task that is ready, the caller's thread for a wanted one. None after an error or the last one."""
        with self._changed:
            while not self._is_over(wanted):
                for task in self._waiting:  # in the order of the plan
                    if (wanted or not task.main_thread) and all(name in self._outputs for name in task.needs):
                        self._waiting.remove(task)
                        return task
                self._changed.wait()
            return None

    def _is_over(self, wanted: list[Task] | None) -> bool:
        if wanted is None:
            return bool(self._errors) or all(task.main_thread for task in self._waiting)
        return bool(self._errors) or all(task.name in self._outputs for task in wanted)

    def _execute(self, context: BuildContext, task: Task) -> None:
        inputs = {name: self._outputs[name] for name in task.needs}
        try:
            output = run_task(context, task, inputs)
            context.lake.backend.check_unchanged()  # or the content would not be what the layer's digest says
        except Exception as error:
            if context is self._context and is_signal(error):
                raise
            with self._changed:
                self._errors[self._places[task.name]] = error
                self._changed.notify_all()
        else:
            with self._changed:
                self._outputs[task.name] = output
                layer, tick = self._bar
                if task.layer == layer:
                    tick(task.objects)
                self._changed.notify_all()

    def _join(self, interrupt: bool = False) -> None:
        """Wait until the other threads have ended their tasks. With `interrupt`, end their queries."""
        with self._changed:
            self._waiting.clear()
            self._changed.notify_all()
        for thread, context in self._threads.items():
            while thread.is_alive():
                if interrupt:
                    context.interrupt()
                thread.join(_INTERRUPT_SECONDS)
