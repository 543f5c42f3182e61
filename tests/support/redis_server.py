"""A Redis server for tests, on a free port of this machine. It stores nothing on disk."""

import signal
import socket
import subprocess
from pathlib import Path

from tests.support.ports import free_port
from tests.support.programs import path_of
from tests.support.service import until


class RedisServer:
    """A server that tests can freeze, kill and start again at the same address."""

    def __init__(self, folder: Path, *more: str):
        self.port = free_port()
        self.socket = folder / "redis.sock"
        self.url = f"redis://127.0.0.1:{self.port}/0"
        settings = {
            "--port": self.port, "--bind": "127.0.0.1", "--unixsocket": self.socket, "--dir": folder, "--save": "",
            "--appendonly": "no",
        }  # fmt: skip
        self._command = [
            path_of("redis-server") or path_of("valkey-server"),
            *(str(part) for pair in settings.items() for part in pair),
            *more,
        ]
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        until(lambda: self._listens() or self._process.poll() is not None, 60, "redis-server listens")
        assert self._process.poll() is None, "redis-server ended"

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self.socket)) == 0
