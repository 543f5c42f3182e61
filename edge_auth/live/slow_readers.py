"""Clients that do not read what was sent to them: how many connections of an address wait, and the end of slow ones.

A server hands an answer to the kernel, and learns nothing of its client. The kernel knows what was not taken yet.
"""

import fcntl
import os
import socket
import struct
import termios
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

from edge_auth.live.background import busy
from edge_auth.live.counter import address_name
from edge_auth.live.open_build import LruCache

SECONDS = 20.0  # within which a client has to read a part of its answer
_LEAST_BYTES_PER_SECOND = 1024
_LOOK_SECONDS = 2.0
MAX_UNREAD = 40  # answers to a key, and to an address, in a process: each takes up to 2 MB of the kernel
SMALL_BYTES = 64 << 10  # what a limit of requests bounds well enough
_ACKNOWLEDGED = struct.Struct("120xQ")  # tcpi_bytes_acked of struct tcp_info
_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: the kernel forgets the rest when the server closes the connection


def unread_handles() -> Iterator[int]:
    """Yield the connections of this process whose other side has not taken all bytes yet."""
    for path in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # no socket, or closed meanwhile
            handle, size = int(path.name), bytearray(4)
            fcntl.ioctl(handle, termios.TIOCOUTQ, size)  # fails for a file: to close its duplicate would end its locks
            if any(size):
                yield handle


def _waiting() -> Iterator[tuple[str, socket.socket]]:
    """Yield those connections but of unix sockets, with the address of the other side."""
    for handle in unread_handles():
        with suppress(OSError), socket.socket(fileno=os.dup(handle)) as connection:
            if connection.family != socket.AF_UNIX:
                yield address_name(connection.getpeername()[0]), connection


class UnreadAnswers:
    """Bounds the answers that clients leave unread. It notes by key and address when and where the last ones went."""

    def __init__(self) -> None:
        self._noted = LruCache(10_000)

    def note(self, key_id: str | None, client: str, size: int) -> None:
        """Note an answer that is sent at once. Raise RateLimited if many before were not read."""
        if size <= SMALL_BYTES:
            return
        now, address = monotonic(), address_name(client)
        for name in filter(None, (key_id, address)):
            noted = self._noted.get(name) or deque(maxlen=MAX_UNREAD)
            if len(noted) == MAX_UNREAD and noted[0][0] > now - SECONDS:
                addresses = {one for _, one in list(noted)}
                waiting = [one for one, _ in _waiting() if one in addresses]
                if len(waiting) >= MAX_UNREAD:
                    raise busy("too many answers of yours were not read yet")
                noted = deque(((now, one) for one in waiting), MAX_UNREAD)  # the others were read: no look soon
            noted.append((now, address))
            self._noted.put(name, noted, 1)


def end_slow_readers() -> None:
    """End connections to clients that read less than a least speed, until the process ends."""
    known: dict[int, tuple[float, int]] = {}
    while True:
        sleep(_LOOK_SECONDS)
        known = look(known, monotonic())


def look(known: Mapping[int, tuple[float, int]], now: float) -> dict[int, tuple[float, int]]:
    """End slow connections. Return by inode since when each waits, and what its client had taken before."""
    found = {}
    for _, connection in _waiting():
        inode = os.fstat(connection.fileno()).st_ino
        [taken] = _ACKNOWLEDGED.unpack(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ACKNOWLEDGED.size))
        since, before = known.get(inode, (now, taken))
        if now < since + SECONDS:
            found[inode] = since, before
        elif taken - before >= _LEAST_BYTES_PER_SECOND * (now - since):
            found[inode] = now, taken
        else:
            with suppress(OSError):  # it has just ended
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
                connection.shutdown(socket.SHUT_RDWR)
    return found
