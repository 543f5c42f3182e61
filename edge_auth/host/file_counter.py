"""The rate limit counter of one machine, exact over all shims of a store that share a state folder.

The counter is a file of slots, so counting is a lock and a write of sixteen bytes, and counts survive restarts. Names
are hashed to buckets of a few slots. If a bucket gets more names in a minute than it has slots, the least used slot is
replaced. If the file cannot be used, the shim counts on its own and logs it, since an answer matters more than an exact
count.
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

_BUCKETS, _SLOTS_PER_BUCKET = 8192, 8
# A slot holds the tag of its name, its window and its count. An empty slot is zeros.
_SLOT = struct.Struct("<QII")
_BUCKET = struct.Struct("<" + "QII" * _SLOTS_PER_BUCKET)
# A slot's window may lie this far ahead, because a clock was set back a little. Further ahead is an error of a clock.
_MAX_WINDOWS_AHEAD = 60
_LOCK_TIMEOUT_SECONDS, _LOCK_POLL_SECONDS = 0.5, 0.0001
_RETRY_SECONDS = 5
_LOG_SECONDS = 60


class FileCounter:
    """The counter of one process. Create it in the process that uses it, since a process does not inherit locks."""

    def __init__(self, file: Path, log: Callable[[str], None]):
        self._file = file
        self._log = log
        self._lock = Lock()
        self._handle = os.memfd_create("counts")
        self._shared = False
        self._window = 0
        self._next_attempt = self._next_log = 0.0

    def hit(self, name: str, limit: int, now: float) -> Usage:
        """Count a request unless it is over the limit."""
        window, (bucket, tag) = window_of(now), _location(name)
        with self._lock:
            if window != self._window or not self._shared:
                self._check_file(window)
            try:
                return self._count_locked(bucket, tag, limit, window)
            except OSError as error:
                self._count_alone(error)
                return self._count_locked(bucket, tag, limit, window)

    def _count_locked(self, bucket: int, tag: int, limit: int, window: int) -> Usage:
        self._lock_bucket(bucket)
        try:
            return self._count(bucket, tag, limit, window)
        finally:
            lockf(self._handle, LOCK_UN, 1, bucket)

    def _lock_bucket(self, bucket: int) -> None:
        """Lock a bucket.

        Raises:
            OSError: Another process holds the lock for long, perhaps because it was stopped.
        """
        deadline = 0.0
        while True:
            try:
                lockf(self._handle, LOCK_EX | LOCK_NB, 1, bucket)
                return
            except BlockingIOError:
                deadline = deadline or monotonic() + _LOCK_TIMEOUT_SECONDS
                if monotonic() > deadline:
                    raise
                sleep(_LOCK_POLL_SECONDS)

    def _count(self, bucket: int, tag: int, limit: int, window: int) -> Usage:
        slots = _BUCKET.unpack(os.pread(self._handle, _BUCKET.size, bucket).ljust(_BUCKET.size, b"\0"))
        tags, windows, counts = slots[::3], slots[1::3], slots[2::3]
        if tag in tags:
            slot = tags.index(tag)
            # A slot's window never goes back, even if the clock does.
            latest, used = _current(windows[slot], counts[slot], window)
        else:
            uses = [_current(*slot, window)[1] for slot in zip(windows, counts, strict=True)]
            slot, latest, used = uses.index(min(uses)), window, 0
        if used >= limit:
            return usage(limit, limit, latest, False)
        os.pwrite(self._handle, _SLOT.pack(tag, latest, used + 1), bucket + slot * _SLOT.size)
        return usage(limit, used + 1, latest, True)

    def _check_file(self, window: int) -> None:
        """Open the counter's file if it was replaced or is not open. Called once a minute, or while there is none."""
        self._window = window
        if self._shared and _is_open(self._file, self._handle):
            return
        if monotonic() >= self._next_attempt:
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                self._replace_handle(os.open(self._file, os.O_RDWR | os.O_CREAT, 0o666), shared=True)
            except OSError as error:
                self._count_alone(error)

    def _count_alone(self, error: OSError) -> None:
        self._next_attempt = monotonic() + _RETRY_SECONDS
        if self._shared:
            self._replace_handle(os.memfd_create("counts"), shared=False)
        if monotonic() >= self._next_log:
            self._next_log = monotonic() + _LOG_SECONDS
            self._log(f"the rate limit counter {self._file} fails, counting in this process alone: {error}")

    def _replace_handle(self, handle: int, shared: bool) -> None:
        os.close(self._handle)
        self._handle, self._shared = handle, shared


def _current(latest: int, used: int, window: int) -> tuple[int, int]:
    """Return the window and the count that a slot has now. The count of a past window is 0."""
    return (latest, used) if window <= latest < window + _MAX_WINDOWS_AHEAD else (window, 0)


def _is_open(file: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except OSError:
        return False


@lru_cache(4096)
def _location(name: str) -> tuple[int, int]:
    """Return the offset of a name's bucket in the file, and the tag of its slot."""
    digest = blake2b(name.encode(), digest_size=12).digest()
    bucket, tag = struct.unpack("<IQ", digest)
    return bucket % _BUCKETS * _BUCKET.size, tag or 1
