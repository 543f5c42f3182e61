"""How long a thread keeps the interpreter while others wait: less while a build is made ready beside requests."""

import sys
from threading import Lock

_SECONDS, _USUAL_SECONDS = 0.0005, sys.getswitchinterval()  # usually 5 ms


class ShortSwitches:
    """A context in which all threads of this process take shorter turns. Several threads may be in it."""

    def __init__(self) -> None:
        self._users = 0
        self._lock = Lock()

    def __enter__(self) -> None:
        self._add(1)

    def __exit__(self, *error: object) -> None:
        self._add(-1)

    def _add(self, number: int) -> None:
        with self._lock:
            self._users += number
            sys.setswitchinterval(_SECONDS if self._users else _USUAL_SECONDS)
