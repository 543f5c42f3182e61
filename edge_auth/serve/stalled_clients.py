"""Ends connections to clients that have stopped reading.

A thread that sends a large body waits for its client, and granian waits without a limit. The kernel has one: the option
TCP_USER_TIMEOUT. A connection inherits it from the socket that listens. granian creates that socket itself, after it
has loaded the application, so a thread looks for it.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

STALLED_SECONDS = 60
_LOOK_SECONDS, _PAUSE_SECONDS = 30.0, 0.2


def end_stalled_connections() -> None:
    """Set the limit for this process as soon as it listens."""
    threading.Thread(target=_wait_and_limit, daemon=True).start()


def limit_listening_sockets() -> int:
    """Set the limit on every socket of this process that listens. Return their number."""
    count = 0
    for opened in _listening():
        with opened:
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_SECONDS * 1000)
            count += 1
    return count


def _wait_and_limit() -> None:
    deadline = time.monotonic() + _LOOK_SECONDS
    while not limit_listening_sockets() and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)


def _listening() -> Iterator[socket.socket]:
    """Yield a duplicate of each TCP socket of this process that listens."""
    for handle in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # it was closed meanwhile, or is no socket
            copy = os.dup(int(handle.name))
            try:
                opened = socket.socket(fileno=copy)
            except OSError:
                os.close(copy)
                raise
            is_tcp = opened.family in (socket.AF_INET, socket.AF_INET6) and opened.type == socket.SOCK_STREAM
            if is_tcp and opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                yield opened
            else:
                opened.close()
