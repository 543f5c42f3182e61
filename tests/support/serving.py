"""`cardpress` as processes: commands, and a shim with its log."""

import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from pathlib import Path

from edge_auth.live.counter import Usage
from tests.support.ports import free_port
from tests.support.service import Service, start_nginx

COMMAND = [sys.executable, "-m", "generator"]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, env={**os.environ, **environment}, timeout=120
    )


class RunningShim:
    """A `serve` process. Its standard error is read line by line.

    With the option --through-nginx of pytest it listens on a unix socket, and `port` is that of an nginx before it.
    As a context it ends with it, and has the exit `code` and the `log` then.
    """

    def __init__(self, location: str, state: str, *arguments: str):
        folder = Path(tempfile.mkdtemp(prefix="cardpress-nginx-")) if Service.through_nginx else None
        place = ("--socket", str(folder / "shim")) if folder else ("--port", "0")
        self.process = subprocess.Popen(
            [*COMMAND, "serve", "--store", location, *place, "--drain", "0", "--state", state, *arguments],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        [listens_at] = self._said(r"cardpress: listening on (?:http://127\.0\.0\.1:([0-9]+)|.*/shim)\n")
        if "--metrics-port" in arguments:
            [metrics] = self._said(r"cardpress: metrics at http://127\.0\.0\.1:([0-9]+)/metrics\n")
            self.metrics = int(metrics)
        if folder:
            keys = arguments[arguments.index("--keys") + 1] if "--keys" in arguments else None
            self.port = free_port()
            nginx = start_nginx(folder, self.port, location, state, keys, workers=1)
            self._stop_nginx = weakref.finalize(self, _stop, nginx, folder)
            assert eventually(lambda: listens(self.port)), (folder / "error.log").read_text()
        else:
            self.port = int(listens_at)

    def __enter__(self) -> "RunningShim":
        return self

    def __exit__(self, *_: object) -> None:
        self.code, self.log = self.stop()

    def _said(self, line: str) -> tuple[str | None, ...]:
        """Read up to a line. Return its groups. A store that is damaged is logged before it."""
        for text in self.process.stderr:
            if found := re.fullmatch(line, text):
                return found.groups()
        raise AssertionError(f"the shim ended without {line}")

    def get(self, target: str, key: str = "", method: str = "GET", **headers: str):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, target, headers={"X-API-Key": key, **headers} if key else headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split()]

    def stop(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGTERM)
        _, log = self.process.communicate(timeout=90)
        if Service.through_nginx:
            self._stop_nginx()
        return self.process.returncode, log


def _stop(nginx: subprocess.Popen, folder: Path) -> None:
    """Stop an nginx, also one whose shim a test has killed."""
    nginx.terminate()
    nginx.wait(60)
    shutil.rmtree(folder, ignore_errors=True)


def told(usage: Usage) -> tuple[int, int, int, bool]:
    """What a client learns of its limit: limit, remaining, reset, and whether it is allowed."""
    return usage.limit, usage.remaining, usage.reset, usage.allowed


def eventually(holds, seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if holds():
                return True
        except OSError:
            pass
        time.sleep(0.02)
    return False


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
