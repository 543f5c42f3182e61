"""The rate limit counter of one machine, exact over all shims of a store that share a state folder.

The counter is a file of slots, so counting is a lock and a write of sixteen bytes, and counts survive restarts. Names
are hashed, with a secret that the file holds, to buckets of a few slots. Addresses have one table. If a bucket of it
gets more addresses in a minute than it has slots, the least used slot is replaced. Keys have tables of their own: if a
bucket of the first one is full, the next table is used, and no count of the current minute is replaced. The file is
opened anew each minute. If it cannot be used, each worker of a shim counts alone until the next one, and logs it, since
an answer matters more than an exact count.
"""

import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, lockf
from functools import lru_cache
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import NamedTuple, Protocol

# The file: the secret, the table of addresses, the first table of keys, further ones as needed.
_SECRET_BYTES, _HEADER_BYTES = 32, 4096
_MAX_KEY_TABLES = 64
_BUCKETS, _SLOTS_PER_BUCKET = 8192, 8
# A slot holds the tag of its name, its window and its count. An empty slot is zeros.
_SLOT = struct.Struct("<QII")
_BUCKET = struct.Struct("<" + "QII" * _SLOTS_PER_BUCKET)
_TABLE_BYTES = _BUCKETS * _BUCKET.size
# The disk space of the first two tables is reserved: a count that does not fit on a full disk would not be exact, and
# nginx, which maps the file, would be killed.
_RESERVED_BYTES = _HEADER_BYTES + 2 * _TABLE_BYTES
# A slot's window may lie this far ahead, because a clock was set back a little. Further ahead is an error of a clock.
_MAX_WINDOWS_AHEAD = 2
_LOCK_TIMEOUT_SECONDS, _LOCK_POLL_SECONDS = 0.5, 0.0001
WINDOW_SECONDS = 60
_ADDRESS, _GUEST = "address ", "guest "
_IPV6_PREFIX_BYTES = 8  # what a provider gives to one customer at least


class Usage(NamedTuple):
    """The use of a limit in the current minute."""

    limit: int
    used: int  # this request included
    window: int  # the number of the minute
    allowed: bool

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)

    @property
    def reset(self) -> int:
        """The end of the minute in Unix time."""
        return (self.window + 1) * WINDOW_SECONDS

    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }


class Counter(Protocol):
    """Counts requests by name, such as `key <id>` or `address <IP>`."""

    def hit(self, name: str, limit: int, now: float) -> Usage:
        """Count a request at `now` (Unix time) unless it is over the limit. Never raises."""


def address_name(client: str) -> str:
    """Return the name under which requests to public endpoints are counted."""
    return _ADDRESS + _counted_address(client)


def guest_name(client: str) -> str:
    """Return the name under which requests of guests are counted. `edge_auth/nginx/counter.lua` makes the same."""
    return _GUEST + _counted_address(client)


@lru_cache(1024)
def _counted_address(client: str) -> str:
    """Return what is counted together: an IPv4 address, or the first half of an IPv6 one in hexadecimal digits."""
    try:
        address = ip_address(client)
    except ValueError:
        return client
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return address.packed[:_IPV6_PREFIX_BYTES].hex()
    return str(getattr(address, "ipv4_mapped", None) or address)


class FileCounter:
    """The counter of one process, made there: locks are not inherited."""

    def __init__(self, file: Path, log: Callable[[str], None]):
        self._file = file
        self._log = log
        self._lock = Lock()
        self._handle = self._memory = os.memfd_create("counts")  # where it counts while the file cannot be used
        self._secret = b""
        self._window = 0

    def hit(self, name: str, limit: int, now: float) -> Usage:
        """Count in the file, or in this process while the file cannot be used."""
        window = int(now) // WINDOW_SECONDS
        with self._lock:
            try:
                if window != self._window:
                    self._window = window
                    self._open_file()
                return self._count(name, limit, window)
            except OSError as error:
                self._log(f"the rate limit counter {self._file} fails, this worker counts alone meanwhile: {error}")
                self._use(self._memory)
                return self._count(name, limit, window)

    def _count(self, name: str, limit: int, window: int) -> Usage:
        tables, tag = _location(name, self._secret)
        with locked(self._handle, tables.start):
            slot, window, used = self._find(tables, tag, window)
            if used >= limit:
                return Usage(limit, limit, window, False)
            os.pwrite(self._handle, _SLOT.pack(tag, window, used + 1), slot)
            return Usage(limit, used + 1, window, True)

    def _find(self, tables: range, tag: int, window: int) -> tuple[int, int, int]:
        """Return place, window and count of a tag's slot: its own, else the least used of the first table with room."""
        least: list[tuple[int, int]] = []  # the least used slot of each table: its count, its offset
        for bucket in tables:
            data = os.pread(self._handle, _BUCKET.size, bucket)
            slots = _BUCKET.unpack(data.ljust(_BUCKET.size, b"\0"))
            tags, windows, counts = slots[::3], slots[1::3], slots[2::3]
            if tag in tags:
                slot = tags.index(tag)
                # A slot's window never goes back, even if the clock does.
                return bucket + slot * _SLOT.size, *_current(windows[slot], counts[slot], window)
            uses = [_current(*slot, window)[1] for slot in zip(windows, counts, strict=True)]
            least.append((min(uses), bucket + uses.index(min(uses)) * _SLOT.size))
            if 0 in tags:  # this bucket was never full, so no name is in a further table
                break
        return min(least)[1], window, 0

    def _open_file(self) -> None:
        """Open the counter's file, which may have been replaced or truncated. Create it if it is not there."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._use(handle)
        except OSError:
            os.close(handle)
            raise

    def _use(self, handle: int) -> None:
        with locked(handle, 0):
            os.posix_fallocate(handle, 0, _RESERVED_BYTES)
            # Without a secret a client could choose addresses that share a bucket with a key.
            found = os.pread(handle, _SECRET_BYTES, 0)
            secret = found if any(found) else os.urandom(_SECRET_BYTES)
            os.pwrite(handle, secret, 0)
        self._secret, before, self._handle = secret, self._handle, handle
        if before != self._memory:
            os.close(before)


@contextmanager
def locked(handle: int, offset: int) -> Iterator[None]:
    """Hold the lock of a byte, which stands for a bucket or the secret. Raise OSError if another process keeps it."""
    deadline = monotonic() + _LOCK_TIMEOUT_SECONDS
    while True:
        try:
            lockf(handle, LOCK_EX | LOCK_NB, 1, offset)
            break
        except BlockingIOError:
            if monotonic() > deadline:
                raise
            sleep(_LOCK_POLL_SECONDS)
    try:
        yield
    finally:
        lockf(handle, LOCK_UN, 1, offset)


def _current(latest: int, used: int, window: int) -> tuple[int, int]:
    """Return the window and the count that a slot has now. The count of a past window is 0."""
    return (latest, used) if window <= latest <= window + _MAX_WINDOWS_AHEAD else (window, 0)


@lru_cache(4096)
def _location(name: str, secret: bytes) -> tuple[range, int]:
    """Return the offsets of a name's buckets, one for each table that may hold the name, and the tag of its slot."""
    digest = blake2b(name.encode(), key=secret, digest_size=12).digest()
    bucket, tag = struct.unpack("<IQ", digest)
    first = _HEADER_BYTES + bucket % _BUCKETS * _BUCKET.size
    if name.startswith((_ADDRESS, _GUEST)):
        return range(first, first + 1), tag or 1
    return range(first + _TABLE_BYTES, first + (1 + _MAX_KEY_TABLES) * _TABLE_BYTES, _TABLE_BYTES), tag or 1
