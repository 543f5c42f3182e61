"""The runner in threads of this process: each takes the first task of the plan that is ready.

Each thread has its own database of one thread. Two threads inside one database need more CPU for the same month, and
most steps of a query run in one of them.
"""

from collections import Counter
from functools import partial
from threading import Condition, Thread

from generator.errors import TerminatedError
from generator.making.context import BuildContext
from generator.making.plan import BuildPlan
from generator.making.runners import Tick, run_task
from generator.making.tasks import Task
from generator.pack.writer import TaskOutput

# A plan of fewer rows per thread takes about as long in one thread, and another database costs 0.2 s of CPU.
_MIN_ROWS_PER_THREAD = 500_000
_MAX_THREADS = 4  # each may hold a month in memory
_INTERRUPT_SECONDS = 0.05  # between two attempts to end a query


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
