"""The shim's log on standard error: one line per request, and whatever went wrong.

Lines are handed to a thread that writes several at once, so a slow or stuck reader of the log never holds up an
answer; where the log cannot be written fast enough, lines are dropped. No key ever gets into it.
"""

import os
import re
import select
import sys
import time
import traceback
from collections import deque
from contextlib import suppress
from multiprocessing.util import Finalize
from threading import Event, Thread

from edge_auth.contract.keys import timestamp
from edge_auth.request import Answer, Request

_FLUSH_SECONDS = 0.1
_MOST_LINES = 20_000
_PATIENCE_SECONDS = 0.5
# A key under any spelling of its prefix is still 32 letters and digits in a row.
_SECRET = re.compile(r"cpm_live_\w*|[A-Za-z0-9]{32,}", re.IGNORECASE)
_CONTROL = re.compile(r"[^\x20-\x7e\u00a1-\ud7ff\ue000-\uffff]")


class Log:
    """Lines on their way to a file descriptor. Made in the process that writes them."""

    def __init__(self, descriptor: int | None = None):
        self._descriptor = sys.stderr.fileno() if descriptor is None else descriptor
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)
        self._waiting = Event()
        Thread(target=self._write, daemon=True, name="log").start()
        Finalize(self, self._last, exitpriority=10)

    def line(self, text: str) -> None:
        """Log a line of our own making."""
        self._lines.append(cleaned(text))
        self._waiting.set()

    def request(self, request: Request, answer: Answer, now: float, seconds: float) -> None:
        """Log an answered request. The query is left out: people put secrets there."""
        path = request.path.decode(errors="backslashreplace")
        what = cleaned(f"{request.method} {path}"[:500])
        self._lines.append(
            f"{timestamp(now)} {what} {answer.status} {len(answer.body)} {seconds * 1000:.1f}ms {answer.key_id}"
        )
        self._waiting.set()

    def failure(self, request: Request, error: BaseException) -> None:
        """Log why a request got a 500."""
        where = "".join(traceback.format_exception(error)).rstrip()
        self.line(f"failed: {request.method} {request.path.decode(errors='backslashreplace')[:500]}")
        self._lines.extend(cleaned(line) for line in where.splitlines())

    def _write(self) -> None:
        while True:
            self._waiting.wait()
            self._waiting.clear()
            while data := self._taken():
                with suppress(OSError):
                    os.write(self._descriptor, data)
            time.sleep(_FLUSH_SECONDS)

    def _taken(self) -> bytes:
        """The lines that wait, at most as many bytes as a pipe takes at once."""
        taken, size = [], 0
        while self._lines and size < select.PIPE_BUF - 1000:
            taken.append(self._lines.popleft())
            size += len(taken[-1]) + 1
        return "".join(line + "\n" for line in taken).encode(errors="replace")

    def _last(self) -> None:
        """Write what is left at the end of the process, unless nobody reads."""
        with suppress(OSError):
            while self._lines and select.select([], [self._descriptor], [], _PATIENCE_SECONDS)[1]:
                os.write(self._descriptor, self._taken())


def cleaned(text: str) -> str:
    """Text fit for the log: keys taken out, control characters escaped."""
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode(), _SECRET.sub("…", text))
