"""Ends a run by an error on SIGTERM, so that it releases its lock and its intent, and writes its report.

The signal waits while the lock is taken: `hold_back` comes before, `end_by_error` inside.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from generator.errors import TerminatedError

_SIGNALS = {signal.SIGTERM}


@contextmanager
def hold_back() -> Iterator[None]:
    """Let SIGTERM wait inside the `with` block. Does nothing outside the main thread, which alone sees signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


@contextmanager
def end_by_error(what: str) -> Iterator[None]:
    """Raise TerminatedError inside the `with` block on SIGTERM, also on one that waited. Stands inside `hold_back`.

    Args:
        what: What ends, for the message, such as `night`.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _raiser(what))
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        signal.signal(signal.SIGTERM, before)


def _raiser(what: str) -> Callable[..., None]:
    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second signal must not interrupt what follows
        raise TerminatedError(f"the {what} was ended by SIGTERM; `cardpress show` tells which build is live")

    return end
