"""The shim's log on standard error: JSON, one line per request, and one for whatever went wrong.

Lines are handed to a thread that writes several at once, so a slow or stuck reader of the log never holds up an
answer; where the log cannot be written fast enough, lines are dropped. Lines are kept shorter than what a pipe takes
at once, so that those of several workers do not run into each other. No key ever gets into it.
"""

import json
import os
import re
import select
import sys
import time
import traceback
from collections import deque
from contextlib import suppress
from functools import lru_cache
from json.encoder import encode_basestring as quoted
from multiprocessing.util import Finalize
from threading import Event, Thread

from edge_auth.contract.keys import timestamp
from edge_auth.core.request import Answer, Request

_FLUSH_SECONDS = 0.1
_MOST_LINES = 20_000
_PATIENCE_SECONDS = 0.5
_MOST_TEXT = 500
_MOST_TRACE = 2000
# A key under any spelling of its prefix is still 32 letters and digits in a row.
_SECRET = re.compile(r"cpm_live_\w*|[A-Za-z0-9]{32,}", re.IGNORECASE)
_CONTROL = re.compile(r"[^\x20-\x7e\u00a1-\ud7ff\ue000-\uffff]")


class Log:
    """Lines on their way to a file descriptor. TaskOutput in the process that writes them."""

    def __init__(self, descriptor: int | None = None):
        self._descriptor = sys.stderr.fileno() if descriptor is None else descriptor
        self._lines: deque[bytes] = deque(maxlen=_MOST_LINES)
        self._waiting = Event()
        Thread(target=self._write, daemon=True, name="log").start()
        Finalize(self, self._last, exitpriority=10)

    def line(self, text: str) -> None:
        """Log a message of our own making."""
        self._append(json.dumps({"time": _moment(time.time()), "message": _fit(text)}, ensure_ascii=False))

    def request(self, request: Request, answer: Answer, now: float, seconds: float) -> None:
        """Log an answered request. The query is left out: people put secrets there."""
        # Put together by hand: json.dumps takes four times as long, and this is done for every request.
        self._append(
            f'{{"time":"{_moment(now)}","method":{_method(request.method)},"path":{_path(request.path)},'
            f'"endpoint":{_or_null(answer.endpoint)},"status":{answer.status},"bytes":{len(answer.body)},'
            f'"ms":{seconds * 1000:.2f},"key":{_or_null(answer.key_id)},"request":{quoted(request.id)},'
            f'"build":{_or_null(answer.headers.get("X-Build"))}}}'
        )

    def failure(self, request: Request, error: BaseException) -> None:
        """Log why a request got a 500."""
        trace = "".join(traceback.format_exception(error)).rstrip().splitlines()
        told = {
            "time": _moment(time.time()),
            "message": f"failed: {request.method} {_shown(request.path)}",
            "request": request.id,
            "trace": "\n".join(map(cleaned, trace))[-_MOST_TRACE:],
        }
        self._append(json.dumps(told, ensure_ascii=False))

    def _append(self, line: str) -> None:
        self._lines.append(line.encode(errors="replace") + b"\n")
        if not self._waiting.is_set():
            self._waiting.set()

    def _write(self) -> None:
        while True:
            self._waiting.wait()
            self._waiting.clear()
            while data := self._taken():
                with suppress(OSError):
                    os.write(self._descriptor, data)
            time.sleep(_FLUSH_SECONDS)

    def _taken(self) -> bytes:
        """The lines that wait, as many as a pipe takes at once."""
        taken, size = [], 0
        while self._lines and (not taken or size + len(self._lines[0]) <= select.PIPE_BUF):
            taken.append(self._lines.popleft())
            size += len(taken[-1])
        return b"".join(taken)

    def _last(self) -> None:
        """Write what is left at the end of the process, unless nobody reads."""
        with suppress(OSError):
            while self._lines and select.select([], [self._descriptor], [], _PATIENCE_SECONDS)[1]:
                os.write(self._descriptor, self._taken())


def cleaned(text: str) -> str:
    """Text fit for the log: keys taken out, control characters escaped."""
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode(), _SECRET.sub("…", text))


def _moment(now: float) -> str:
    return f"{_second(int(now))}.{int(now % 1 * 1000):03d}Z"


@lru_cache(4)
def _second(now: int) -> str:
    return timestamp(now)[:-1]


def _fit(text: str) -> str:
    return cleaned(text)[:_MOST_TEXT]


def _shown(path: bytes) -> str:
    return _fit(path.decode(errors="backslashreplace"))


def _path(path: bytes) -> str:
    return _known_path(path) if len(path) <= _MOST_TEXT else quoted(_shown(path))


@lru_cache(1024)
def _known_path(path: bytes) -> str:
    return quoted(_shown(path))


@lru_cache(64)
def _method(method: str) -> str:
    return quoted(_fit(method))


@lru_cache(1024)
def _or_null(text: str | None) -> str:
    return "null" if text is None else quoted(text)
