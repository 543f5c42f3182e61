"""granian as a public server needs it: limits, restarts with a growing delay, an end that drops no request.

A thread that sends a large body waits for its client, and granian waits without a limit. The kernel has one: the option
TCP_USER_TIMEOUT. A connection inherits it from the socket that listens. granian creates that socket itself, after it
has loaded the application, so a thread looks for it.
"""

import os
import signal
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from granian import Granian
from granian.constants import HTTPModes
from granian.http import HTTP1Settings

# Connections that one worker holds at most. granian would allow backlog / workers, and wait with all others.
MAX_CONNECTIONS_PER_WORKER = 16_384
_BACKLOG_CONNECTIONS = 4096
_MAX_RESTART_DELAY_SECONDS = 8.0
_RESTARTS_FORGOTTEN_SECONDS = 60.0
_TICK_SECONDS = 0.1
STALLED_SECONDS = 60
_LOOK_SECONDS, _PAUSE_SECONDS = 30.0, 0.2


class Server(Granian):  # type: ignore[misc,valid-type]  # granian chooses its class when it is imported
    """The server. SIGTERM sets `draining`, a flag that all workers share; they end `drain_seconds` later."""

    def __init__(self, *arguments: Any, draining: Any, idle_seconds: float, drain_seconds: float, **more: Any):
        super().__init__(
            *arguments,
            http=HTTPModes.http1,  # with HTTP/2 on, granian does not close connections that send nothing
            http1_settings=HTTP1Settings(header_read_timeout=round(1000 * idle_seconds)),
            backlog=_BACKLOG_CONNECTIONS,
            backpressure=MAX_CONNECTIONS_PER_WORKER,
            respawn_failed_workers=True,
            **more,
        )
        self._draining = draining
        self._drain_seconds = drain_seconds
        self._restart_delay, self._restarted_at = 0.0, 0.0

    def signal_handler_interrupt(self, *arguments: Any) -> None:
        """End at once on Ctrl-C or on a second signal. On SIGTERM, drain first."""
        if self._draining.value or arguments[:1] == (signal.SIGINT,) or not self._drain_seconds:
            super().signal_handler_interrupt()
            return
        self._draining.value = True
        timer = threading.Timer(self._drain_seconds, super().signal_handler_interrupt)
        timer.daemon = True
        timer.start()

    def _respawn_workers(self, workers: list[int], *arguments: Any, **more: Any) -> None:
        """Start failed workers again. granian would give up on one that fails twice within 5.5 seconds."""
        recent = time.monotonic() < self._restarted_at + _RESTARTS_FORGOTTEN_SECONDS
        self._restart_delay = min(max(1.0, self._restart_delay * 2), _MAX_RESTART_DELAY_SECONDS) if recent else 0.0
        end = time.monotonic() + self._restart_delay
        while time.monotonic() < end and not self.interrupt_signal:
            time.sleep(_TICK_SECONDS)
        super()._respawn_workers(workers, *arguments, **more)
        self._restarted_at = time.monotonic()
        self.respawned_wrks.clear()


def end_stalled_connections() -> None:
    """Set the limit for this process as soon as it listens."""
    threading.Thread(target=_wait_and_limit, daemon=True).start()


def limit_listening_sockets() -> int:
    """Set the limit on every TCP socket of this process that listens. Return their number."""
    count = 0
    for handle in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # it was closed meanwhile
            if not handle.is_socket():
                continue  # to close a duplicate would end the locks of this process on a file
            with socket.socket(fileno=os.dup(int(handle.name))) as opened:
                is_tcp = opened.family in (socket.AF_INET, socket.AF_INET6) and opened.type == socket.SOCK_STREAM
                if is_tcp and opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_SECONDS * 1000)
                    count += 1
    return count


def _wait_and_limit() -> None:
    deadline = time.monotonic() + _LOOK_SECONDS
    while not limit_listening_sockets() and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
