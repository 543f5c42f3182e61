"""Load on a server: wrk on a core of its own where answers are quick, one request after the other where they are not.

wrk is C and answers nothing itself; the report says of every measurement how busy it was, so that a figure that shows
the generator's limit rather than the server's cannot pass for the latter.
"""

import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.machine import LOAD_CORE, pinned
from bench.stats import quantile

_SCRIPT = Path(__file__).with_name("load.lua")
_SLOW_SECONDS = 0.06  # from here on a closed loop of a few requests says more than wrk does in the time
_MOST_SECONDS = 60
_FEW = 3


class LoadFailed(Exception):
    """Requests of a measurement failed, so it says nothing."""


@dataclass(frozen=True)
class Load:
    """What a load measured.

    Attributes:
        rate: requests per second.
        p50, p99: milliseconds.
        body: bytes per answer, its head included.
        busy: share of its core that the generator used.
    """

    requests: int
    rate: float
    p50: float
    p99: float
    body: float
    busy: float


def load(
    port: int,
    targets: Sequence[str],
    headers: dict[str, str],
    seconds: float,
    *,
    folder: Path,
    once: bool = False,
    connections: int = 16,
    pause_ms: float = 0,
) -> Load:
    """Ask a server for targets, in turn, for so many seconds.

    Args:
        folder: where to put a file of targets.
        once: stop after the last target rather than begin again.
        pause_ms: mean pause of a connection between two requests; 0 saturates the server.

    Raises:
        LoadFailed: an answer was no 200.
    """
    file = folder / "targets.txt"
    file.write_text("\n".join(targets) + "\n")
    sent = [part for name, value in headers.items() for part in ("-H", f"{name}: {value}")]
    wrk = ["wrk", "-t1", f"-c{connections}", f"-d{_MOST_SECONDS}s", "--timeout", "60s", "-s", str(_SCRIPT), *sent]
    command = [*wrk, f"http://127.0.0.1:{port}", "--", str(file), "once" if once else "again", f"{pause_ms:.3f}"]
    found, used = _run(command, seconds)
    if not found["requests"] and not found["failed"]:  # slower than it seemed
        return ask_in_turn(port, targets[:_FEW], headers)
    return _read(found, used, len(targets), connections)


def slowness(port: int, targets: Sequence[str], headers: dict[str, str], seconds: float) -> float | None:
    """Seconds that one request takes, where a load for `seconds` would see too few of them; else None."""
    one = min(1 / ask_in_turn(port, [target], headers).rate for target in targets)
    return one if one > min(_SLOW_SECONDS, seconds / 16) else None


def ask_in_turn(port: int, targets: Sequence[str], headers: dict[str, str]) -> Load:
    """One request after the other, each target once."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_MOST_SECONDS * 2)
    times, size = [], 0
    for target in targets:
        began = time.perf_counter()
        connection.request("GET", target, headers=headers)
        answer = connection.getresponse()
        size += len(answer.read())
        times.append(time.perf_counter() - began)
        if answer.status != 200:
            raise LoadFailed(f"{target}: {answer.status}")
    connection.close()
    p50, p99 = (1000 * quantile(times, share) for share in (0.5, 0.99))
    return Load(len(times), len(times) / sum(times), p50, p99, size / len(times), 0.0)


def _run(command: list[str], seconds: float) -> tuple[dict, float]:
    """wrk's figures, and its CPU seconds. Told to stop, it does so within a tenth of a second and says when."""
    process = subprocess.Popen(pinned(LOAD_CORE, command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        process.wait(seconds + 0.1)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    output = process.stdout.read()  # type: ignore[union-attr]
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or not output.rstrip().endswith("}"):
        raise LoadFailed(f"wrk: {output}{process.stderr.read()}")  # type: ignore[union-attr]
    return json.loads(output.splitlines()[-1]), used.ru_utime + used.ru_stime


def _read(found: dict, used: float, targets: int, connections: int) -> Load:
    if found["failed"]:
        raise LoadFailed(f"{found['failed']} of {found['requests']} requests failed")
    requests, seconds = found["requests"], found["seconds"]
    rate = requests / seconds
    if found["exhausted"]:  # the answers to the last request of each connection were not waited for
        requests, seconds = targets - connections, found["exhausted"]
        rate = requests / seconds
    body = found["bytes"] / found["requests"]
    return Load(requests, rate, found["p50"], found["p99"], body, used / found["seconds"])
