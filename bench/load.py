"""Puts load on a server: wrk on a core of its own if answers are quick, one request after the other if they are slow.

The report says how busy wrk was in every measurement, so that the limit of the load generator cannot be mistaken for
that of the server.
"""

import http.client
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.machine import LOAD_CORE, pinned
from bench.stats import quantile

_SCRIPT = Path(__file__).with_name("load.lua")
_SLOW_SECONDS = 0.06  # slower answers are measured better by a few requests in turn than by wrk in the same time
_MAX_SECONDS = 60
_FEW_REQUESTS = 3


class LoadFailed(Exception):
    """Requests of a measurement failed, so its figures are void."""


@dataclass(frozen=True)
class Load:
    """The figures of one load.

    Attributes:
        rate: Requests per second.
        p50, p99: Milliseconds.
        body: Bytes per answer, including its head.
        busy: Share of its core that the load generator used.
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
    """Request targets from a server, in turn, for so many seconds.

    Args:
        folder: Where to write a file of targets.
        once: Stop after the last target instead of beginning again.
        pause_ms: Mean pause of a connection between two requests; 0 saturates the server.

    Raises:
        LoadFailed: An answer was not 200.
    """
    file = folder / "targets.txt"
    file.write_text("\n".join(targets) + "\n")
    header_options = [part for name, value in headers.items() for part in ("-H", f"{name}: {value}")]
    wrk = ["wrk", "-t1", f"-c{connections}", f"-d{_MAX_SECONDS}s", "--timeout", "60s", "-s", str(_SCRIPT)]
    command = [
        *wrk,
        *header_options,
        f"http://127.0.0.1:{port}",
        "--",
        str(file),
        "once" if once else "again",
        f"{pause_ms:.3f}",
    ]
    figures, cpu_seconds = _run_wrk(command, seconds)
    if not figures["requests"] and not figures["failed"]:  # slower than it seemed
        return request_in_turn(port, targets[:_FEW_REQUESTS], headers)
    return _read(figures, cpu_seconds, len(targets), connections)


def slowness(port: int, targets: Sequence[str], headers: dict[str, str], seconds: float) -> float | None:
    """Return the seconds of one request, if a load of `seconds` would see too few requests; else None."""
    one = min(1 / request_in_turn(port, [target], headers).rate for target in targets)
    return one if one > min(_SLOW_SECONDS, seconds / 16) else None


def request_in_turn(port: int, targets: Sequence[str], headers: dict[str, str]) -> Load:
    """Send one request after the other, each target once.

    Raises:
        LoadFailed: An answer was not 200.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_MAX_SECONDS * 2)
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


def _run_wrk(command: list[str], seconds: float) -> tuple[dict[str, Any], float]:
    """Run wrk and return its figures and its CPU seconds. After SIGINT it stops within a tenth of a second."""
    process = subprocess.Popen(pinned(LOAD_CORE, command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout and process.stderr
    end = threading.Timer(seconds + 0.1, os.kill, (process.pid, signal.SIGINT))
    end.start()
    output = process.stdout.read()
    end.cancel()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == -signal.SIGINT:  # a busy machine had not yet started it
        return _run_wrk(command, 2 * seconds + 1)
    if process.returncode != 0 or not output.rstrip().endswith("}"):
        raise LoadFailed(f"wrk: {output}{process.stderr.read()}")
    return json.loads(output.splitlines()[-1]), used.ru_utime + used.ru_stime


def _read(figures: dict[str, Any], cpu_seconds: float, targets: int, connections: int) -> Load:
    if figures["failed"]:
        raise LoadFailed(f"{figures['failed']} of {figures['requests']} requests failed")
    requests, seconds = figures["requests"], figures["seconds"]
    if figures["exhausted"]:  # wrk did not wait for the answer to the last request of each connection
        requests, seconds = targets - connections, figures["exhausted"]
    body = figures["bytes"] / figures["requests"]
    return Load(requests, requests / seconds, figures["p50"], figures["p99"], body, cpu_seconds / figures["seconds"])
