"""The shim's log on standard error: one line of JSON per request, and one per failure.

A thread writes the lines, several at a time, so a slow or stuck reader of the log does not delay answers. If the log
cannot be written fast enough, the oldest lines are dropped. Each write is at most what a pipe takes at once, so that
the lines of several workers do not mix. Texts that may be API keys are removed.
"""

import json
import os
import re
import select
import string
import sys
import time
import traceback
from collections import deque
from contextlib import suppress
from functools import lru_cache
from json.encoder import encode_basestring as quote
from multiprocessing.util import Finalize
from threading import Event, Lock, Thread
from typing import Protocol

from edge_auth.live.background import OfProcess
from generator.storage.errors import StorageError
from generator.storage.times import unix_timestamp

_FLUSH_SECONDS = 0.1
_MAX_WAITING_LINES = 20_000
_LAST_WRITE_TIMEOUT_SECONDS = 0.5
_AGAIN_SECONDS, _MAX_SAID = 60.0, 100
_MAX_TEXT_CHARACTERS = 500
_MAX_PATH_BYTES = 1000
_WORD_CHARACTERS = string.ascii_letters + string.digits + "_"
_MAX_TRACE_CHARACTERS = 2000
# A key has 32 letters and digits in a row, whatever its prefix looks like.
_SECRET = re.compile(r"cpm_live_\w*|[A-Za-z0-9]{32,}", re.IGNORECASE)
_CONTROLS = re.compile(r"[^\x20-\x7e\u00a1-\ud7ff\ue000-\uffff]+")


class Request(Protocol):
    """What the log reads of a request. The path is percent-decoded, without the query."""

    now: float
    method: str
    raw_path: bytes
    key_id: str | None
    id: str
    answer_headers: dict[str, str]


class Log:
    """The lines of the log of this process, and of its forks."""

    def __init__(self, descriptor: int | None = None):
        descriptor = sys.stderr.fileno() if descriptor is None else descriptor
        self._writer = OfProcess(lambda: _Writer(descriptor))
        self._said: dict[str, float] = {}  # when `once` has logged a message

    def line(self, text: str) -> None:
        self._say(loggable(text, _MAX_TEXT_CHARACTERS))

    def once(self, text: str) -> None:
        """Log a message, unless it was logged a short while ago."""
        now = time.monotonic()
        if now > self._said.get(text, -_AGAIN_SECONDS) + _AGAIN_SECONDS:
            if len(self._said) >= _MAX_SAID:
                self._said.clear()
            self._said[text] = now
            self.line(text)

    def request(self, request: Request, endpoint: str | None, status: int, size: int, seconds: float) -> None:
        """Log an answered request, without its query, since clients may put secrets there. `size` is of the body."""
        # This runs for every request, and json.dumps would take four times as long.
        path = _quoted_path(request.raw_path[: _MAX_PATH_BYTES + 1])
        self._writer().append(
            f'{{"time":"{_time(request.now)}","method":{_quoted(request.method[:_MAX_PATH_BYTES])},"path":{path},'
            f'"endpoint":{_quoted(endpoint)},"status":{status},"bytes":{size},'
            f'"ms":{seconds * 1000:.2f},"key":{_quoted(request.key_id)},"request":{quote(request.id)},'
            f'"build":{_quoted(request.answer_headers.get("X-Build"))}}}'
        )

    def failure(self, method: str, path: bytes, id_: str, error: BaseException) -> None:
        """Log the message of a failure of the storage, which is no defect of the shim, else the traceback."""
        if isinstance(error, StorageError):
            cause = {"error": loggable(str(error), _MAX_TEXT_CHARACTERS)}
        else:
            trace = "".join(traceback.format_exception(error)).rstrip().splitlines()
            cause = {"trace": "\n".join(map(loggable, trace))[-_MAX_TRACE_CHARACTERS:]}
        self._say(f"failed: {method} {_clean_path(path)}", request=id_, **cause)

    def _say(self, message: str, **more: str) -> None:
        fields = {"time": _time(time.time()), "message": message, **more}
        self._writer().append(json.dumps(fields, ensure_ascii=False))


class _Writer:
    """Lines on their way to a file descriptor, and the thread that writes them."""

    def __init__(self, descriptor: int):
        self._descriptor = descriptor
        self._lines: deque[bytes] = deque(maxlen=_MAX_WAITING_LINES)
        self._waiting = Event()
        self._writing = Lock()  # lines that were taken: the process must not end before they are written
        Thread(target=self._write, daemon=True, name="log").start()
        Finalize(self, self._write_rest, exitpriority=10)

    def append(self, line: str) -> None:
        self._lines.append(line.encode(errors="replace") + b"\n")
        if not self._waiting.is_set():
            self._waiting.set()

    def _write(self) -> None:
        while True:
            self._waiting.wait()
            self._waiting.clear()
            while self._lines:
                with self._writing, suppress(OSError):
                    os.write(self._descriptor, self._next_lines())
            time.sleep(_FLUSH_SECONDS)

    def _next_lines(self) -> bytes:
        """Remove and return waiting lines, as many as a pipe takes at once."""
        data = self._lines.popleft() if self._lines else b""
        while self._lines and len(data) + len(self._lines[0]) <= select.PIPE_BUF:
            data += self._lines.popleft()
        return data

    def _write_rest(self) -> None:
        """Write the waiting lines at the end of the process, unless the reader is stuck."""
        if not self._writing.acquire(timeout=_LAST_WRITE_TIMEOUT_SECONDS):
            return
        with suppress(OSError):
            while self._lines and select.select([], [self._descriptor], [], _LAST_WRITE_TIMEOUT_SECONDS)[1]:
                os.write(self._descriptor, self._next_lines())


def loggable(text: str, most: int | None = None) -> str:
    """Return a text without possible keys and with escaped controls, cut to `most` characters before and after that."""
    without_secrets = _SECRET.sub("…", text)[:most]
    return _CONTROLS.sub(lambda match: match.group().encode("unicode_escape").decode(), without_secrets)[:most]


_second = lru_cache(4)(unix_timestamp)


def _time(now: float) -> str:
    return f"{_second(int(now))[:-1]}.{int(now % 1 * 1000):03d}Z"


def _clean_path(path: bytes) -> str:
    """Return a path for the log. A long one is cut first, without the word that is cut: it may be a part of a key."""
    text = path[:_MAX_PATH_BYTES].decode(errors="backslashreplace")
    return loggable(text if len(path) <= _MAX_PATH_BYTES else text.rstrip(_WORD_CHARACTERS), _MAX_TEXT_CHARACTERS)


@lru_cache(1024)
def _quoted_path(path: bytes) -> str:
    return quote(_clean_path(path))


@lru_cache(1024)
def _quoted(text: str | None) -> str:
    return "null" if text is None else quote(loggable(text, _MAX_TEXT_CHARACTERS))
