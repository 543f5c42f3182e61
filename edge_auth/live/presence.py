"""Which shims of a store are there, and which have opened the build that a publisher has announced.

Each process of a shim keeps a record in the store, which it renews rarely and deletes at its end. A publisher announces
a build in the pointer (`edge_auth.builds.pointer`), and moves the pointer when all records say that the build is open.
A shim that may not write to the store has no record, and nothing waits for it. In a folder a process also locks a file
beside its record, so a record whose process was killed is known at once; elsewhere it counts until it expires.
"""

import json
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from time import monotonic
from typing import Any

from edge_auth.builds.layout import SHIMS
from edge_auth.errors import EdgeError
from edge_auth.live.counter import store_name
from edge_auth.store.interface import Store

_RENEWED_SECONDS, _EXPIRES_SECONDS = 300, 900
_MAX_NGINX_SECONDS, _LOOK_SECONDS = 15.0, 0.05


@dataclass(frozen=True)
class Record:
    """What a process of a shim says of itself.

    Attributes:
        shim: Its machine and its process, for messages.
        expires: Until when it counts, in Unix time.
        opened: The nonce of the last announcement whose build is open here, or ''.
        lock: The identity of the lock that it holds; '' where there are no locks.
    """

    shim: str
    expires: float
    opened: str = ""
    lock: str = ""


class Presence:
    """Keeps the record of this process.

    Args:
        log: Logs a line.
    """

    def __init__(self, store: Store, log: Callable[[str], None]):
        self._store, self._log = store, log
        self._name = f"{SHIMS}{secrets.token_hex(8)}.json"
        self._shim = f"process {os.getpid()} on {socket.gethostname()}"
        self._file_lock = store.file_lock(self._name)
        self._lock, self._opened = "", ""
        self._renew_at = 0.0
        Finalize(None, self._end, exitpriority=1)

    def renew(self) -> None:
        """Write the record if it is time."""
        if monotonic() >= self._renew_at:
            self._write()

    def has_opened(self, nonce: str) -> None:
        """Say that the announced build is open here."""
        if nonce != self._opened:
            self._opened = nonce
            self._write()

    def _write(self) -> None:
        self._renew_at = monotonic() + _RENEWED_SECONDS
        try:
            if self._file_lock is not None and not self._lock:
                self._store.put(self._name, b"{}\n")  # makes the folder
                self._lock = self._file_lock.acquire()
            record = Record(self._shim, time.time() + _EXPIRES_SECONDS, self._opened, self._lock)
            self._store.put(self._name, json.dumps(asdict(record)).encode() + b"\n")
        except EdgeError as error:
            self._log(f"`cardpress publish` does not wait for this shim, which cannot say that it is there: {error}")

    def _end(self) -> None:
        if self._renew_at:
            with suppress(EdgeError):
                forget(self._store, self._name)


def opened_file(state: str, store_location: str) -> Path:
    """Return the file in which an nginx writes the nonce of an announcement, when it has the answers of the build."""
    return Path(state) / f"opened-{store_name(store_location)}"


def wait_for_nginx(opened: Path, nonce: str) -> None:
    """Wait until nginx has the answers, but not for long: there may be none."""
    deadline = monotonic() + _MAX_NGINX_SECONDS
    while monotonic() < deadline:
        with suppress(OSError):
            if opened.read_text() == nonce:
                return
        time.sleep(_LOOK_SECONDS)


def records(store: Store) -> Iterator[tuple[str, Record]]:
    """Yield the records in a store with their names. One that cannot be read is left out.

    Raises:
        StoreError: They cannot be listed.
    """
    for name in list(store.list(SHIMS)):
        found = store.get_versioned(name)
        record = _parsed(found.data) if found else None
        if record is not None:
            yield name, record


def is_gone(store: Store, name: str, record: Record, now: float) -> bool:
    """Return whether the process of a record has ended without deleting it, or has not renewed it for long."""
    lock = store.file_lock(name)
    ended = bool(record.lock) and lock is not None and lock.identity() == record.lock and not lock.is_held()
    return ended or now >= record.expires


def forget(store: Store, name: str) -> None:
    """Delete a record, and its lock.

    Raises:
        StoreError: It cannot be deleted.
    """
    folder, _, base = name.rpartition("/")
    locks = [f"{folder}/.{base}"] if store.file_lock(name) is not None else []
    store.delete([name, *locks])


def _parsed(data: bytes) -> Record | None:
    try:
        fields: dict[str, Any] = json.loads(data)
        return Record(str(fields["shim"]), float(fields["expires"]), str(fields["opened"]), str(fields["lock"]))
    except (ValueError, KeyError, TypeError):
        return None
