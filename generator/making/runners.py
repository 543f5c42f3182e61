"""The plan of a build, the execution of one task, and the runner in threads of this process.

The plan has the tasks that make the missing layers, in an order in which one machine can execute them. A runner has the
methods of `Runner`. `ThreadRunner` is the default: each of its threads takes the first task that is ready. `cluster/`
runs on other machines.

Each thread has its own database of one thread. Two threads inside one database need more CPU for the same month, and
most steps of a query run in one of them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Condition, Thread
from typing import Any, Protocol

import duckdb

from generator.database import query_fault, temporary_folder_full
from generator.errors import LakeError, SqlError, TerminatedError, is_disk_full
from generator.lake.lake import Lake
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec
from generator.making.tasks import BuildScope, Task
from generator.pack.verify import visible_damage
from generator.pack.writer import Inputs, TaskOutput, Writer

Tick = Callable[[int], object]  # takes the number of objects that were written since the last call
# A plan of fewer rows per thread takes about as long in one thread, and another database costs 0.2 s of CPU.
_MIN_ROWS_PER_THREAD = 500_000
_MAX_THREADS = 4  # each may hold a month in memory
_INTERRUPT_SECONDS = 0.05  # between two attempts to end a query


@dataclass(frozen=True)
class BuildPlan:
    """The tasks of a build.

    Attributes:
        build: The id of the build.
        layers: All layers of the build, in order.
        tasks: The tasks that make the missing layers. Every task comes after the tasks that it needs.
    """

    build: str
    layers: list[LayerSpec]
    tasks: list[Task]

    def of(self, layer: str) -> list[Task]:
        """Return the tasks that write a layer, in the order of its index."""
        return [task for task in self.tasks if task.layer == layer]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {"build": self.build, "tasks": [_task_fields(task) for task in self.tasks], "total": self.total()}

    def lines(self) -> Iterator[str]:
        """Yield the plan as the lines of a table."""
        width = max((len(task.name) for task in self.tasks), default=0)
        yield f"{'TASK':<{width}}  {'ROWS':>13}  NEEDS"
        for task in self.tasks:
            yield f"{task.name:<{width}}  {task.rows:>13,}  {_first_and_last(task.needs)}"
        total = self.total()
        yield f"{total['tasks']:,} tasks, {total['rows']:,} rows"

    def total(self) -> dict[str, int]:
        """Return the number of tasks, and about how many rows they read."""
        return {"tasks": len(self.tasks), "rows": sum(task.rows for task in self.tasks)}


def plan_build(
    build: str,
    lake: Lake,
    layers: list[LayerSpec],
    missing: Iterable[str],
    context: BuildContext,
    from_lake: bool = False,
) -> BuildPlan:
    """Plan a build of which some layers are missing and the others are in the store.

    Args:
        missing: The names of the missing layers.
        context: Opens the products if a missing layer is made in ranges of them.
        from_lake: Make no layer from one of fewer months that the store has.

    Raises:
        LakeError: The products break a rule.
    """
    wanted = set(missing)
    digests = {layer.name: layer.digest for layer in layers}
    scope = BuildScope(
        lake,
        missing={name: digest for name, digest in digests.items() if name in wanted},
        present={name: digest for name, digest in digests.items() if name not in wanted},
        product_ids=lambda: context.tables.product_ids(),  # opens the lake's tables
        priced_ids=lambda period: context.tables.priced_ids(period),
        stored=lambda name, digest: not from_lake and visible_damage(context.layers.open(name, digest)) is None,
    )
    tasks: dict[str, Task] = {}
    for layer in layers:
        if layer.name in wanted:
            for task in layer.tasks(scope):
                tasks.setdefault(task.name, task)
    return BuildPlan(build, layers, list(tasks.values()))


def _task_fields(task: Task) -> dict[str, Any]:
    fields = {name: getattr(task, name) for name in ("name", "layer", "needs", "objects", "rows")}
    work = task.work.func if isinstance(task.work, partial) else task.work
    return fields | {"work": f"{work.__module__}.{work.__qualname__}"}


def _first_and_last(needs: tuple[str, ...]) -> str:
    return f"{needs[0]} … {needs[-1]} ({len(needs)})" if len(needs) > 2 else ", ".join(needs)


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


class ThreadRunner:
    """Executes tasks in the thread of the caller and in others; see `generator.making.runners.Runner`.

    Which thread was faster does not matter: of several errors, the first one in the order of the plan is raised.

    Args:
        context: The context of the caller's thread. The others get parts of its threads and of its memory.
    """

    def __init__(self, context: BuildContext):
        self._context = context
        self._layers: dict[str, tuple[str, str]] = {}  # folder and pattern
        self._places: dict[str, int] = {}  # of the tasks in the plan
        self._waiting: list[Task] = []  # in the order of the plan
        self._outputs: dict[str, TaskOutput] = {}
        self._errors: dict[int, BaseException] = {}  # by the place of the task
        self._objects: Counter[str] = Counter()  # that were written, by layer
        self._bar: tuple[str, Tick] = "", lambda objects: None  # the layer that the progress bar shows
        self._threads: dict[Thread, BuildContext] = {}
        self._changed = Condition()  # guards all of the above

    def begin(self, plan: BuildPlan) -> None:
        """Accept a plan, and begin it in the other threads."""
        self._layers = {layer.name: (layer.folder, layer.pattern) for layer in plan.layers}
        self._places = {task.name: place for place, task in enumerate(plan.tasks)}
        self._waiting = list(plan.tasks)
        count = min(self._context.resources.cores, plan.total()["rows"] // _MIN_ROWS_PER_THREAD, _MAX_THREADS)
        for context in self._context.split(count) if count > 1 else ():
            thread = Thread(target=self._work, args=(context,), name="tasks", daemon=True)
            self._threads[thread] = context
            thread.start()

    def results(self, tasks: list[Task], tick: Tick) -> list[TaskOutput]:
        """Return the outputs of tasks; see `Runner.results`."""
        layer = tasks[0].layer
        with self._changed:
            self._bar = layer, tick
            tick(self._objects[layer])
        while task := self._take(wanted=tasks):
            self._execute(self._context, task)
        if self._errors:
            self._join()
            raise self._errors[min(self._errors)]
        return [self._outputs[task.name] for task in tasks]

    def close(self, *, clear: bool) -> None:
        """End the threads and close the context, whose intermediate files are in a temporary folder."""
        self._join(interrupt=True)
        self._context.close()

    def _work(self, context: BuildContext) -> None:
        while task := self._take():
            self._execute(context, task)
        context.close()

    def _take(self, wanted: list[Task] | None = None) -> Task | None:
        """Wait for a task that is ready, and return it. Return None after an error, and when none is left to wait for.

        Args:
            wanted: The tasks that the thread of the caller waits for. None in the other threads.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_over(wanted) or self._ready(wanted))
            task = None if self._is_over(wanted) else self._ready(wanted)
            if task:
                self._waiting.remove(task)
            return task

    def _is_over(self, wanted: list[Task] | None) -> bool:
        if wanted is None:
            return bool(self._errors) or all(task.main_thread for task in self._waiting)
        return bool(self._errors) or all(task.name in self._outputs for task in wanted)

    def _ready(self, wanted: list[Task] | None) -> Task | None:
        """Return the first task in the order of the plan whose inputs are there."""
        for task in self._waiting:
            if (wanted or not task.main_thread) and all(name in self._outputs for name in task.needs):
                return task
        return None

    def _execute(self, context: BuildContext, task: Task) -> None:
        context.tick = partial(self._tick, task.layer)
        inputs = {name: self._outputs[name] for name in task.needs}
        try:
            output = run_task(context, task, *self._layers.get(task.layer, ("", "")), inputs)
        except Exception as error:
            if context is self._context and isinstance(error, (TerminatedError, RuntimeError)):
                raise  # a signal: DuckDB turns that of Ctrl-C into a RuntimeError
            with self._changed:
                self._errors[self._places[task.name]] = error
                self._changed.notify_all()
        else:
            with self._changed:
                self._outputs[task.name] = output
                self._changed.notify_all()

    def _tick(self, layer: str, objects: int) -> None:
        with self._changed:
            self._objects[layer] += objects
            shown, tick = self._bar
            if layer == shown:
                tick(objects)

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
