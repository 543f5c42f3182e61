"""Starts the servers on their core, waits until they answer, measures their CPU time, and stops all their processes."""

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
class ServerProcess:
    """A process that answers on a port, with its child processes."""

    process: subprocess.Popen[bytes]
    port: int

    def cpu_seconds(self) -> float:
        """Return the CPU seconds used so far, including those of its children."""
        return cpu_seconds(self.process.pid)

    def settle(self, seconds: float = 20) -> None:
        """Wait until the server has finished requests whose clients are gone."""
        deadline, before = time.monotonic() + seconds, -1.0
        while time.monotonic() < deadline and (now := self.cpu_seconds()) > before + 0.02:
            before = now
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop the process and all processes of its group."""
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(command: Callable[[int], list[str]], path: str, log: Path, core: int | None = SERVER_CORE) -> ServerProcess:
    """Start a server, and wait until it answers a path with a status below 500.

    Args:
        command: Returns its command line from the port to listen on.
        log: File for its output.
        core: The core that it may use, None for all.

    Raises:
        SystemExit: It does not answer in time.
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
    return ServerProcess(process, port)


def _answers(port: int, path: str) -> bool:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", path)
        status = connection.getresponse().status
        connection.close()
    except OSError:
        return False
    return status < 500
