"""How long the steps of a build took: `build --json` prints it, so that two versions can be compared step by step."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


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


@contextmanager
def measured(times: list[StepTime], step: str, cpu_clock: Callable[[], float] = time.process_time) -> Iterator[None]:
    """Append the time that the body takes to `times`. Steps of one thread must not run inside each other."""
    started, cpu_started = time.perf_counter(), cpu_clock()
    yield
    seconds, cpu_seconds = time.perf_counter() - started, cpu_clock() - cpu_started
    times.append(StepTime(step, round(seconds, 3), round(cpu_seconds, 3)))
