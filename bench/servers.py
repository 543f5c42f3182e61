"""Servers under measurement: started on their core, waited for, weighed, stopped with all their processes."""

import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.data import environment
from bench.machine import SERVER_CORE, cpu_seconds, pinned

_START_SECONDS = 120


@dataclass
class Server:
    """A process that answers on a port, with what it spawned."""

    process: subprocess.Popen
    port: int

    def cpu_seconds(self) -> float:
        """CPU seconds used so far, its children's included."""
        return cpu_seconds(self.process.pid)

    def settle(self, seconds: float = 20) -> None:
        """Wait until requests that nobody waits for any more are done."""
        deadline, before = time.monotonic() + seconds, -1.0
        while time.monotonic() < deadline and (now := self.cpu_seconds()) > before + 0.02:
            before = now
            time.sleep(0.1)

    def stop(self) -> None:
        """End it, and whatever it leaves behind."""
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(command: Callable[[int], list[str]], path: str, log: Path, core: int | None = SERVER_CORE) -> Server:
    """Start a server, and wait until it answers a path with anything but a server's error.

    Args:
        command: its command line, given the port to listen on.
        log: where to put what it says.
        core: the core to keep it to, None for all.
    """
    port = free_port()
    line = command(port) if core is None else pinned(core, command(port))
    with log.open("wb") as output:
        process = subprocess.Popen(line, env=environment(), stdout=output, stderr=output, start_new_session=True)
    deadline = time.monotonic() + _START_SECONDS
    while not _answers(port, path):
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"{' '.join(line)}: does not serve; see {log}")
        time.sleep(0.02)
    return Server(process, port)


def _answers(port: int, path: str) -> bool:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", path)
        status = connection.getresponse().status
        connection.close()
    except OSError:
        return False
    return status < 500
