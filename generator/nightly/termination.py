"""Ends a night by an error on SIGTERM, so that it releases its lock and writes its report.

The signal waits while the lock is taken: `hold_back` comes before, `end_by_error` inside.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from generator.errors import GeneratorError

_SIGNALS = {signal.SIGTERM}


@contextmanager
def hold_back() -> Iterator[None]:
    """Let SIGTERM wait inside the `with` block. Requires the main thread."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


@contextmanager
def end_by_error() -> Iterator[None]:
    """Raise GeneratorError inside the `with` block on SIGTERM, also on one that waited. Requires the main thread."""
    before = signal.signal(signal.SIGTERM, _raise)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        signal.signal(signal.SIGTERM, before)


def _raise(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second signal must not interrupt what follows
    raise GeneratorError("the night was ended by SIGTERM; `cardpress show` tells which build is live")
