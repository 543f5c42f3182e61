"""Work beside requests: threads take shorter turns at the interpreter, and pause while they copy files."""

import sys
import time
from threading import Lock

_TURN_SECONDS, _USUAL_TURN_SECONDS = 0.0005, sys.getswitchinterval()  # usually 5 ms
_PAUSING_SECONDS = 2.0  # a new build must be in force within five seconds


class Background:
    """A context for work beside requests. Several threads may be in it."""

    def __init__(self) -> None:
        self._users = 0
        self._lock = Lock()
        self._pauses_until = 0.0

    def __enter__(self) -> None:
        self._pauses_until = time.monotonic() + _PAUSING_SECONDS
        self._add(1)

    def __exit__(self, *error: object) -> None:
        self._add(-1)

    def _add(self, number: int) -> None:
        with self._lock:
            self._users += number
            sys.setswitchinterval(_TURN_SECONDS if self._users else _USUAL_TURN_SECONDS)

    def pause(self, seconds: float) -> None:
        """Sleep for so many seconds in this context, but not after its first seconds."""
        if self._users and time.monotonic() < self._pauses_until:
            time.sleep(seconds)
