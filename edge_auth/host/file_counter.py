"""The rate limit's counter of a machine: exact over all shims of a store that share a state folder.

It is a file of slots, so a count is a lock and sixteen bytes, and outlives a restart. A name may lie in any of the few
slots of its bucket; where more names than that come in one minute, the least used makes way. Where the file fails, the
shim counts on its own and says so in the log: an answer is worth more than an exact count.
"""

import os
import struct
from collections.abc import Callable
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, lockf
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from time import monotonic, sleep

from edge_auth.core.rate_limit import Usage, usage, window_of

_BUCKETS, _SLOTS = 8192, 8
# A slot is what marks its name, its window and its count; an empty one is zeros.
_SLOT = struct.Struct("<QII")
_BUCKET = struct.Struct("<" + "QII" * _SLOTS)
# A window further ahead than this is a clock's error; a nearer one a clock that was set back a little.
_FAR_AHEAD = 60
_PATIENCE_SECONDS, _LOOK_AGAIN_SECONDS = 0.5, 0.0001
_RETRY_SECONDS = 5
_LOG_SECONDS = 60


class FileCounter:
    """The counter of one process. To be made in the process that uses it: locks are a process's own."""

    def __init__(self, file: Path, log: Callable[[str], None]):
        self._file = file
        self._log = log
        self._lock = Lock()
        self._handle = os.memfd_create("counts")
        self._shared = False
        self._window = 0
        self._next_try = self._next_log = 0.0

    def hit(self, name: str, limit: int, now: float) -> Usage:
        """Count a request unless it is over the limit."""
        window, (bucket, mark) = window_of(now), _place(name)
        with self._lock:
            if window != self._window or not self._shared:
                self._follow(window)
            try:
                return self._locked(bucket, mark, limit, window)
            except OSError as error:
                self._count_alone(error)
                return self._locked(bucket, mark, limit, window)

    def _locked(self, bucket: int, mark: int, limit: int, window: int) -> Usage:
        self._lock_bucket(bucket)
        try:
            return self._counted(bucket, mark, limit, window)
        finally:
            lockf(self._handle, LOCK_UN, 1, bucket)

    def _lock_bucket(self, bucket: int) -> None:
        """Raises OSError where somebody holds the lock for long: a process that is stopped."""
        give_up = 0.0
        while True:
            try:
                return lockf(self._handle, LOCK_EX | LOCK_NB, 1, bucket)
            except BlockingIOError:
                give_up = give_up or monotonic() + _PATIENCE_SECONDS
                if monotonic() > give_up:
                    raise
                sleep(_LOOK_AGAIN_SECONDS)

    def _counted(self, bucket: int, mark: int, limit: int, window: int) -> Usage:
        slots = _BUCKET.unpack(os.pread(self._handle, _BUCKET.size, bucket).ljust(_BUCKET.size, b"\0"))
        marks, windows, counts = slots[::3], slots[1::3], slots[2::3]
        if mark in marks:
            slot = marks.index(mark)
            # The window never goes back, whatever the clock does.
            latest, used = _in_force(windows[slot], counts[slot], window)
        else:
            uses = [_in_force(*held, window)[1] for held in zip(windows, counts, strict=True)]
            slot, latest, used = uses.index(min(uses)), window, 0
        if used >= limit:
            return usage(limit, limit, latest, False)
        os.pwrite(self._handle, _SLOT.pack(mark, latest, used + 1), bucket + slot * _SLOT.size)
        return usage(limit, used + 1, latest, True)

    def _follow(self, window: int) -> None:
        """Once a minute, and while there is none: count in the file that has the counter's name now."""
        self._window = window
        if self._shared and _is_open(self._file, self._handle):
            return
        if monotonic() >= self._next_try:
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                self._replace(os.open(self._file, os.O_RDWR | os.O_CREAT, 0o666), shared=True)
            except OSError as error:
                self._count_alone(error)

    def _count_alone(self, error: OSError) -> None:
        self._next_try = monotonic() + _RETRY_SECONDS
        if self._shared:
            self._replace(os.memfd_create("counts"), shared=False)
        if monotonic() >= self._next_log:
            self._next_log = monotonic() + _LOG_SECONDS
            self._log(f"the rate limit counter {self._file} fails, counting in this process alone: {error}")

    def _replace(self, handle: int, shared: bool) -> None:
        os.close(self._handle)
        self._handle, self._shared = handle, shared


def _in_force(latest: int, used: int, window: int) -> tuple[int, int]:
    """The window that a slot counts in, and its count; a slot of a window that is over counts nothing."""
    return (latest, used) if window <= latest < window + _FAR_AHEAD else (window, 0)


def _is_open(file: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except OSError:
        return False


@lru_cache(4096)
def _place(name: str) -> tuple[int, int]:
    """Where in the file the bucket of a name begins, and what marks its slot."""
    digest = blake2b(name.encode(), digest_size=12).digest()
    bucket, mark = struct.unpack("<IQ", digest)
    return bucket % _BUCKETS * _BUCKET.size, mark or 1
