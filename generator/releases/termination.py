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


class _Waiting:
    """A handler that remembers SIGTERM for later."""

    def __init__(self) -> None:
        self.received = False

    def __call__(self, *_: object) -> None:
        self.received = True


class _Raising:
    """A handler that ends a query and raises an error, on the first SIGTERM."""

    def __init__(self, end: TerminatedError) -> None:
        self.received = False
        self._end = end

    def __call__(self, *_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second signal must not interrupt what follows
        self.received = True
        interrupt_queries()
        raise self._end


@contextmanager
def hold_back() -> Iterator[None]:
    """Let SIGTERM wait inside the `with` block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting = _Waiting()
    before = signal.signal(signal.SIGTERM, waiting)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if waiting.received:
            signal.raise_signal(signal.SIGTERM)


@contextmanager
def end_by_error(what: str) -> Iterator[None]:
    """Raise TerminatedError inside the `with` block on SIGTERM, also on one that waited. Stands inside `hold_back`.

    Args:
        what: What ends, for the message, such as `night`.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    end = TerminatedError(f"the {what} was ended by SIGTERM; `cardpress show` says which build is live")
    handler = _Raising(end)
    before = signal.signal(signal.SIGTERM, handler)
    try:
        if isinstance(before, _Waiting) and before.received:
            before.received = False
            handler()
        yield
    except Exception as error:  # DuckDB puts its own exception in place of one that a handler raises
        if handler.received and error is not end:
            raise end from error
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
