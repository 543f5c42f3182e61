"""Locks that expire if their holders are killed, and intents, which protect layers from a prune at the same time.

A lock (`Lease`) is an object in the store that its holder renews while it runs. It is taken, renewed and released by
compare-and-swap, so it works on any store. It is held until its holder releases it, which no clock can prevent. In a
folder the holder also locks a file, and the system ends that lock with the process: every run on the same system, in
any container, sees whether the holder is alive. Elsewhere a run with the same process ids sees whether its process is
gone, and others wait until the time in its `expires`. For this the clocks of the machines that share a store must
differ by much less than a lease.

Builds and publishers use intents, a prune uses its lock:

    intents/<build id>/<nonce>.json   a build in the making, or about to go live: the folders of its layers
    private/prune.lock                a running prune: the folders and builds that it is about to delete

A build or publisher first writes an intent. Then it reads the prune's list, and waits while one of its own layers is on
the list. A prune first writes its list. Then it reads the intents, and removes what they name from its list. Each side
writes before it reads, so at least one of the two sees the other.
"""

import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from edge_auth.builds import layout
from edge_auth.errors import Conflict, EdgeError, MissingObject
from edge_auth.store.interface import Store, parse_json, read_json
from generator.clock import Clock, from_unix_time, parse_timestamp, timestamp
from generator.errors import BusyError, TerminatedError, is_disk_full
from generator.releases.reserve import with_reserve
from generator.releases.termination import hold_back

# The fields of a lock, as JSON: run, host, machine, pid, lock, since, expires, released, nonce, facts.
Holder = dict[str, Any]
# The member of the prune lock's facts that lists builds and folders about to be deleted.
DELETION_LIST = "doomed"

_RENEWALS_PER_LEASE = 4
_PRUNE_POLL_SECONDS = 0.1


class Lease:
    """The lock `name`, as a context manager.

    Args:
        what: What the holder does, for the message to other runs, such as `nightly`.
        run: The id of this run.
        seconds: How long the lock outlives its last renewal.

    Raises:
        BusyError: Another run holds the lock.
    """

    def __init__(self, store: Store, name: str, *, what: str, run: str, clock: Clock, seconds: float):
        self.store, self.name, self.what, self.clock, self.seconds = store, name, what, clock, seconds
        self._holder: Holder = {
            "run": run,
            "host": socket.gethostname(),
            "machine": _machine(),
            "pid": os.getpid(),
            "since": timestamp(clock()),
        }
        self._file_lock = store.file_lock(name)
        self._facts: dict[str, Any] = {}
        self._etag: str | None = None
        self._expires = clock()
        self._lost = False
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._renew_until_stopped, name=f"lease {name}", daemon=True)

    def __enter__(self) -> "Lease":
        try:
            with hold_back():
                self._take()
        except BaseException as error:
            self._stop.set()
            if isinstance(error, TerminatedError):  # it waited until the lock was taken
                self._release_interrupted()
            self._release_file()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with hold_back():
            self._stop.set()
            self._thread.join()
            with self._lock:
                if kind is not None and issubclass(kind, TerminatedError):
                    self._release_interrupted()
                elif not self._lost:
                    self._release()
            self._release_file()

    def write_facts(self, **facts: Any) -> None:
        """Write facts into the lock, for other runs to read.

        Raises:
            BusyError: The lock was lost.
        """
        with self._lock:
            self._facts = facts
            self._renew()
        self.check()

    def check(self) -> None:
        """Check that this run holds the lock.

        Raises:
            BusyError: The lock was lost, or may have been.
        """
        if self._lost or self.clock() >= self._expires:
            raise BusyError(f"this {self.what} lost its lock {self.name}: it stops before it changes anything else")

    def _take(self) -> None:
        current = self.store.get_versioned(self.name)
        holder = _parse_holder(current.data) if current else None
        if holder and _is_held(self.store, self.name, holder, self.clock):
            raise BusyError(self._busy_message(holder))
        self._holder["lock"] = self._file_lock.acquire() if self._file_lock else ""
        self._etag = current.etag if current else None
        try:
            self._write(self.seconds)
        except Conflict as error:
            raise BusyError(f"another {self.what} began at the same moment: nothing was done") from error
        self._thread.start()

    def _renew_until_stopped(self) -> None:
        while not self._stop.wait(self.seconds / _RENEWALS_PER_LEASE):
            with self._lock:
                self._renew()

    def _renew(self) -> None:
        try:
            self._write(self.seconds)
        except Conflict:
            self._lost = True
        except EdgeError:
            pass  # the store may answer again before the lease ends; `check` compares the time

    def _release_interrupted(self) -> None:
        """Release the lock after SIGTERM, which may have come between a write of the lock and its result."""
        with suppress(EdgeError):
            current = self.store.get_versioned(self.name)
            holder = _parse_holder(current.data) if current else None
            if current and holder and holder["run"] == self._holder["run"]:
                self._etag = current.etag
                self._release()

    def _release(self) -> None:
        """Release the lock. On a full disk without a reserve it is deleted, which needs no room."""
        try:
            with_reserve(self.store, lambda: self._write(0, released=True))
        except EdgeError as error:  # otherwise the lock expires by itself
            if is_disk_full(error) and self.clock() < self._expires:
                with suppress(EdgeError):
                    self.store.delete([self.name])

    def _release_file(self) -> None:
        if self._file_lock:
            self._file_lock.release()

    def _write(self, seconds: float, *, released: bool = False) -> None:
        """Write the lock with an expiry in `seconds`.

        Raises:
            Conflict: Another run wrote the lock.
        """
        # rounded to seconds, as other runs read it
        expires = parse_timestamp(timestamp(self.clock() + timedelta(seconds=seconds)))
        fields = self._holder | {
            "expires": timestamp(expires),
            "released": released,
            "nonce": secrets.token_hex(8),
            "facts": self._facts,
        }
        data = json.dumps(fields, indent=1).encode() + b"\n"
        try:
            self.store.swap(self.name, data, self._etag)
        except EdgeError:
            current = self.store.get_versioned(self.name)
            if current is None or current.data != data:  # otherwise the write succeeded and only its answer was lost
                raise
        current = self.store.get_versioned(self.name)
        if current is None or current.data != data:
            raise Conflict(f"{self.name} in {self.store.location} was taken over")
        self._etag, self._expires = current.etag, expires

    def _busy_message(self, holder: Holder) -> str:
        return (
            f"another {self.what} is running: run {holder['run']} on {holder['host']} (process {holder['pid']}) since "
            f"{holder['since']}; if it was killed, its lock ends at {holder['expires']}, or by `cardpress unlock`"
        )


def current_holder(store: Store, name: str, clock: Clock) -> Holder | None:
    """Return the fields of a lock that is held now, or None."""
    current = store.get_versioned(name)
    holder = _parse_holder(current.data) if current else None
    return holder if holder and _is_held(store, name, holder, clock) else None


def release_lock(store: Store, name: str, *, force: bool, clock: Clock) -> Holder | None:
    """Release a lock that a killed run left, whatever its clock showed.

    Args:
        force: Release it also if the run may be alive. The run then finds that it lost its lock.

    Returns:
        The fields of the lock, or None if no run held it.

    Raises:
        BusyError: The run may be alive, or it has just renewed the lock.
    """
    current = store.get_versioned(name)
    holder = _parse_holder(current.data) if current else None
    if current is None or holder is None:
        return None
    alive = _is_alive(store, name, holder)
    if not alive and parse_timestamp(holder["expires"]) <= clock():
        return None
    if alive is None and "machine" not in holder and holder["host"] == socket.gethostname():
        alive = _process_exists(holder)  # versions before wrote no more of the machine
    if not force and alive is not False:
        raise BusyError(
            f"{name} is held by run {holder['run']} on {holder['host']} (process {holder['pid']}), which may be alive: "
            "check there, then pass --force"
        )
    data = json.dumps(holder | {"released": True, "nonce": secrets.token_hex(8)}, indent=1).encode() + b"\n"
    try:
        store.swap(name, data, current.etag)
    except Conflict as error:
        raise BusyError(f"{name} was written at the same moment: run {holder['run']} is alive") from error
    return holder


@dataclass
class Intents:
    """The builds and the layers' folders that recent intents name."""

    builds: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)


@contextmanager
def declare_intent(store: Store, build_id: str, folders: Iterable[str], clock: Clock) -> Iterator[None]:
    """Protect a build and its layers from a prune inside the `with` block."""
    folders = sorted(folders)
    name = layout.intent_name(build_id, secrets.token_hex(8))
    intent = {"build": build_id, "layers": folders, "since": timestamp(clock())}
    try:  # a signal may end the run as soon as the intent is written
        store.put(name, json.dumps(intent, indent=1).encode() + b"\n")
        _wait_for_prune(store, {build_id, *folders}, clock)
        yield
    finally:
        with suppress(EdgeError):  # the intent expires by its age
            store.delete([name])


def read_intents(store: Store, clock: Clock, max_age: timedelta) -> Intents:
    """Return what the intents younger than `max_age` name."""
    intents = Intents()
    for entry in store.entries(layout.INTENTS):
        if from_unix_time(entry.modified) > clock() - max_age:
            with suppress(MissingObject, ValueError, KeyError, TypeError):  # deleted meanwhile, or not an intent
                intent = read_json(store, entry.name)
                intents.builds.add(intent["build"])
                intents.folders.update(intent["layers"])
    return intents


def _parse_holder(data: bytes) -> Holder | None:
    """Return the fields of a lock, or None if it was released, or is not valid and so not held."""
    try:
        fields: Holder = parse_json(data)
        parse_timestamp(fields["expires"])
        if fields.get("released"):
            return None
        return fields if {"run", "host", "pid", "since", "facts"} <= fields.keys() else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _is_held(store: Store, name: str, holder: Holder, clock: Clock) -> bool:
    """Return whether a lock is held: its process is known to be alive, or it has not expired and may be alive."""
    alive = _is_alive(store, name, holder)
    return alive or (alive is None and parse_timestamp(holder["expires"]) > clock())


def _is_alive(store: Store, name: str, holder: Holder) -> bool | None:
    """Return whether the process of a lock exists, or None if that is not known here."""
    file_lock = store.file_lock(name)
    if file_lock and holder.get("lock") and holder["lock"] == file_lock.identity():
        return file_lock.is_held()
    if holder.get("machine") and holder["machine"] == _machine() and not _process_exists(holder):
        return False
    return None


def _machine() -> str:
    """Return what processes share that see each other's ids: the start of the system and a namespace of ids.

    Containers may have equal host names, so a name does not tell. '' if the system has no such files.
    """
    try:
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _process_exists(holder: Holder) -> bool:
    try:
        os.kill(int(holder["pid"]), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, ValueError, OverflowError):
        return True
    return True


def _wait_for_prune(store: Store, protected: set[str], clock: Clock) -> None:
    while (holder := current_holder(store, layout.PRUNE_LOCK, clock)) and protected.intersection(
        holder["facts"].get(DELETION_LIST, ())
    ):
        time.sleep(_PRUNE_POLL_SECONDS)
