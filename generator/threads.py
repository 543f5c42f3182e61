"""Threads: how many of them and how much memory this process may use, and parallel work with results in input order.

Cores and memory are those of the affinity and of the limits of the container, which may be less than the machine has.
"""

import math
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from generator.settings import MEMORY, WORKER_MEMORY

_Input = TypeVar("_Input")
_Result = TypeVar("_Result")
_CGROUPS, _OWN_CGROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_PART_OF_A_CONTAINER = 0.5  # for DuckDB; Python, Arrow and the file cache need the rest
_BYTES = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def in_order(
    pool: Executor, ahead: int, work: Callable[[_Input], _Result], inputs: Iterable[_Input]
) -> Iterator[_Result]:
    """Yield `work(input)` in input order. At most `ahead` results wait in memory until they are due."""
    pending: deque[Future[_Result]] = deque()
    for item in inputs:
        pending.append(pool.submit(work, item))
        if len(pending) > ahead:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def usable_cores() -> int:
    """Return how many cores this process may use, at least 1: by its affinity, and by the quota of its container."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quotas = (_quota(*texts) for texts in _limits("cpu", ("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")))
    return max(1, min([cores, *(math.ceil(quota) for quota in quotas if quota > 0)]))


def usable_memory() -> int | None:
    """Return the bytes of memory that the container of this process may use, or None if it has no limit."""
    texts = (texts[0] for texts in _limits("memory", ("memory.max",), ("memory.limit_in_bytes",)))
    limits = [int(text) for text in texts if text.isdigit()]
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min((limit for limit in limits if limit < physical), default=None)


def default_memory(most: str = MEMORY) -> str:
    """Return what DuckDB may use before it spills to disk: `most`, or a part of what the container allows."""
    allowed = usable_memory()
    if allowed is None or allowed * _PART_OF_A_CONTAINER >= _bytes(most):
        return most
    return f"{max(64, int(allowed * _PART_OF_A_CONTAINER) >> 20)}MiB"


@dataclass(frozen=True)
class Resources:
    """What DuckDB may use in this process, or in each worker of a cluster."""

    threads: int | None = None  # one per core
    memory: str | None = None  # before it spills to disk, such as `2GB`; None: the default

    @property
    def cores(self) -> int:
        return self.threads or usable_cores()

    @property
    def limit(self) -> str:
        return self.memory or default_memory()

    def of_worker(self) -> "Resources":
        """Return these for a worker, whose defaults are smaller."""
        return Resources(self.threads or 1, self.memory or default_memory(WORKER_MEMORY))


USUAL = Resources()
ONE_THREAD = Resources(1)


def _bytes(text: str) -> int:
    number, unit = re.fullmatch(r"([0-9.]+) *([A-Z]*)", text).groups()  # type: ignore[union-attr]  # a setting of ours
    return int(float(number) * _BYTES[unit])


def _quota(maximum: str, period: str = "") -> float:
    """Return cores from the text of version 2, `200000 100000`, or from the two of version 1; 0 for no limit."""
    quota, period = [*maximum.split(), period][:2]
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() and int(period) else 0


def _limits(controller: str, new: tuple[str, ...], old: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the texts of the files of a controller, in the group of this process and in those above it."""
    try:
        lines = [line.split(":", 2) for line in _OWN_CGROUPS.read_text().splitlines()]
    except OSError:
        return
    for number, controllers, path in (line for line in lines if len(line) == 3):
        if number == "0" and not controllers:
            yield from _texts(_CGROUPS, path, new)
        elif controller in controllers.split(","):
            yield from _texts(_CGROUPS / controllers, path, old)
            yield from _texts(_CGROUPS / controller, path, old)


def _texts(top: Path, path: str, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    own = top / path.lstrip("/")
    # Inside a container the path may be that of the host, while the mount begins at the container's own group.
    for folder in [own, *own.parents] if own.is_relative_to(top) else [top]:
        with suppress(OSError):  # without this controller
            yield tuple((folder / name).read_text().strip() for name in names)
        if folder == top:
            return
