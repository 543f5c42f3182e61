"""Ends a run by an error on SIGTERM, so that it releases its lock and its intent, and writes its report.

The signal waits while the lock is taken and while it is released: `hold_back` comes before, `end_by_error` inside. Only
the main thread sees signals; in other threads both do nothing. A signal mask would not do, since it holds for one
thread and the system hands the signal to another.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from generator.database import interrupt_queries
from generator.errors import TerminatedError

_WAITING: list[int] = []  # signals that came inside `hold_back`


@contextmanager
def hold_back() -> Iterator[None]:
    """Let SIGTERM wait inside the `with` block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if _WAITING and before is not _wait:
            signal.raise_signal(_WAITING.pop())


def _wait(number: int, _: object) -> None:
    _WAITING[:] = [number]


@contextmanager
def end_by_error(what: str) -> Iterator[None]:
    """Raise TerminatedError inside the `with` block on SIGTERM, also on one that waited. Stands inside `hold_back`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    end = TerminatedError(f"the {what} was ended by SIGTERM; `cardpress show` says which build is live")
    received = False

    def stop(*_: object) -> None:
        nonlocal received
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second signal must not interrupt what follows
        received = True
        interrupt_queries()
        raise end

    before = signal.signal(signal.SIGTERM, stop)
    try:
        if _WAITING:
            _WAITING.clear()
            stop()
        yield
    except Exception as error:  # DuckDB puts its own exception in place of one that a handler raises
        if received and error is not end:
            raise end from error
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
