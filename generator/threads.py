"""Parallel work on a pool of threads, with results in input order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

_Input = TypeVar("_Input")
_Result = TypeVar("_Result")


def in_order(
    pool: Executor, ahead: int, work: Callable[[_Input], _Result], inputs: Iterable[_Input]
) -> Iterator[_Result]:
    """Yield `work(input)` in input order.

    Args:
        ahead: How many calls may start before their result is due. It bounds the results that wait in memory.
    """
    pending: deque[Future[_Result]] = deque()
    for item in inputs:
        pending.append(pool.submit(work, item))
        if len(pending) > ahead:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()
