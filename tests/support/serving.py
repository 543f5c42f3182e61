"""`cardpress` as processes: commands, and a shim with its log."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

COMMAND = [sys.executable, "-m", "generator"]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, env={**os.environ, **environment}, timeout=120
    )


class RunningShim:
    """A `serve` process. Its standard error is read line by line."""

    def __init__(self, location: str, state: str, *arguments: str):
        self.process = subprocess.Popen(
            [*COMMAND, "serve", "--store", location, "--port", "0", "--drain", "0", "--state", state, *arguments],
            stderr=subprocess.PIPE,
            text=True,
        )
        first = self.process.stderr.readline()
        self.port = int(re.fullmatch(r"cardpress: listening on http://127\.0\.0\.1:([0-9]+)\n", first)[1])
        if "--metrics-port" in arguments:
            second = self.process.stderr.readline()
            self.metrics = int(re.fullmatch(r"cardpress: metrics at http://127\.0\.0\.1:([0-9]+)/metrics\n", second)[1])

    def get(self, target: str, key: str = "", method: str = "GET", **headers: str):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, target, headers={"X-API-Key": key, **headers} if key else headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split()]

    def stop(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGTERM)
        _, log = self.process.communicate(timeout=90)
        return self.process.returncode, log


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


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
