"""How long the steps of a build took: `build --json` prints it, so that two versions can be compared step by step."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

_Input = TypeVar("_Input")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class StepTime:
    """The time of one step.

    Attributes:
        step: The name of a task, or what the build does before and after its tasks.
        seconds: By the clock.
        cpu_seconds: Of all threads of this process. If tasks run at the same time: of the threads of the task, without
            those that DuckDB adds if there are more than one for each task.
    """

    step: str
    seconds: float
    cpu_seconds: float


class StepClock:
    """Measures the steps of one context. Steps of one context must not run inside each other.

    Args:
        times: The list that takes the times, in order. The contexts of a build share it.
        is_alone: Whether no other context of this process executes tasks at the same time.
    """

    def __init__(self, times: list[StepTime] | None = None, is_alone: bool = True):
        self.times = [] if times is None else times
        self._is_alone = is_alone
        self._pool_seconds = 0.0  # of CPU

    def split(self) -> "StepClock":
        """Return the clock of another context, which executes tasks of the same build at the same time."""
        self._is_alone = False
        return StepClock(self.times, is_alone=False)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure a step of the build before or after its tasks."""
        with self._measured(name, time.process_time):
            yield

    @contextmanager
    def task(self, name: str) -> Iterator[None]:
        """Measure a task."""
        with self._measured(name, time.process_time if self._is_alone else self._thread_seconds):
            yield

    def in_pool(self, work: Callable[[_Input], _Result], item: _Input) -> _Result:
        """Return `work(item)`, and count its CPU time for the task. A thread of the context's pool calls this."""
        started = time.thread_time()
        try:
            return work(item)
        finally:
            self._pool_seconds += time.thread_time() - started

    def _thread_seconds(self) -> float:
        return time.thread_time() + self._pool_seconds

    @contextmanager
    def _measured(self, name: str, cpu_seconds: Callable[[], float]) -> Iterator[None]:
        started, cpu_started = time.perf_counter(), cpu_seconds()
        yield
        seconds, cpu = time.perf_counter() - started, cpu_seconds() - cpu_started
        self.times.append(StepTime(name, round(seconds, 3), round(cpu, 3)))
