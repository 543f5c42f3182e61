"""What lets runs share a store: locks, intents, an end by SIGTERM, and a reserve of disk space.

Locks keep a second night or prune out. Intents protect layers from a prune at the same time.

In a folder the system holds a lock (`flock`), and ends it with the process. An object of the lock's name says who has
it. In a bucket this object is the lock: its holder takes, renews and releases it by conditional writes, and the lock of
a killed run ends at the time in `expires`. For this the clocks of the machines must differ by much less than a lease.

Builds and publishers use intents, a prune uses its lock:

    intents/<build id>/<nonce>.json   a build in the making, or about to go live: the folders of its layers
    private/prune.lock                a running prune: the folders and builds that it is about to delete

A build or publisher first writes an intent. Then it reads the prune's list, and waits while one of its own layers is on
the list. A prune first writes its list. Then it reads the intents, and removes what they name from its list. Each side
writes before it reads, so at least one of the two sees the other.

SIGTERM ends a run by an error, so that it releases its lock and its intent, and writes its report. The signal waits
while the lock is taken and while it is released: `hold_back` comes before, `end_by_error` inside. Only the main thread
sees signals; in other threads both do nothing. A signal mask would not do, since it holds for one thread and the system
hands the signal to another.

A folder store also has a reserve of disk space, so that `rollback`, `publish` and `prune` work on a full disk:
`private/reserve` holds some bytes for nothing else. A command that meets a full disk deletes it and tries again. The
next night or prune that finds room writes it again.
"""

import fcntl
import json
import os
import random
import secrets
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from generator import settings
from generator.clock import Clock, from_unix_time, parse_timestamp, timestamp
from generator.errors import BusyError, GeneratorError, TerminatedError, is_disk_full
from generator.storage import layout
from generator.storage.errors import MissingObject, StorageError, StoreError
from generator.storage.stores.disk import is_locked, make_folder, open_lock
from generator.storage.stores.interface import Store, parse_json, read_json, update_json
from generator.storage.stores.remedies import with_remedy

_Result = TypeVar("_Result")
# The fields of a lock, as JSON: run, host, pid, since, nonce, and the builds and folders that are about to be deleted,
# as `doomed`; in a bucket also expires and released.
Holder = dict[str, Any]

_RENEWALS_PER_LEASE = 4
_PRUNE_POLL_SECONDS = 0.1
_WAITING: list[int] = []  # signals that came inside `hold_back`


@contextmanager
def locked(store: Store, name: str, *, run: str, clock: Clock, seconds: float) -> Iterator["Lock"]:
    """Hold the lock `name` inside the `with` block, or raise BusyError: another run holds it.

    In a bucket it outlives its last renewal by `seconds`.
    """
    path = store.local_path(name)
    lock = _FolderLock(store, name, run, clock) if path else _BucketLock(store, name, run, clock, seconds)
    try:
        with hold_back():
            lock.take()
        yield lock
    finally:
        with hold_back():
            lock.release()


class _Lock:
    def __init__(self, store: Store, name: str, run: str, clock: Clock):
        self.store, self.name, self.clock = store, name, clock
        self.what = PurePosixPath(name).stem  # for messages
        self._taken = False
        self._holder: Holder = {
            "run": run,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "since": timestamp(clock()),
            "nonce": secrets.token_hex(8),
            "doomed": [],
        }

    def _is_lost(self) -> BusyError:
        return BusyError(f"this {self.what} lost its lock {self.name}: it stops before it changes anything else")

    def _is_busy(self, holder: Holder, way_out: str) -> BusyError:
        return BusyError(f"another {self.what} is running: {described(holder)}; {way_out}")


class _FolderLock(_Lock):
    """A lock on a hidden file, which `unlock --force` deletes."""

    def take(self) -> None:
        """Take the lock, or raise BusyError: another run holds it."""
        self._path = _lock_file(self.store, self.name)
        make_folder(self._path.parent, 0o700)
        self._handle, self._taken = open_lock(self._path, 0o600), True
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._handle)
            self._taken = False
            if holder := current_holder(self.store, self.name, self.clock):
                raise self._is_busy(holder, "that run is alive: wait until it ends") from error
            raise BusyError(f"another {self.what} began at the same moment: nothing was done") from error
        except OSError as error:
            raise StoreError(with_remedy(f"{self._path} cannot be locked: {error.strerror}", error)) from error
        self.announce([])

    def release(self) -> None:
        """Release the lock, if it was taken."""
        if self._taken:
            with suppress(BusyError, StorageError):
                self.check()
                self.store.delete([self.name])
            os.close(self._handle)

    def announce(self, doomed: list[str]) -> None:
        """Write into the lock what this run is about to delete, or raise BusyError: the lock was lost."""
        self.check()
        self.store.put(self.name, _to_json(self._holder | {"doomed": doomed}))

    def check(self) -> None:
        """Check that this run holds the lock, or raise BusyError: it was lost."""
        with suppress(OSError):
            if os.path.samestat(os.fstat(self._handle), self._path.stat()):
                return
        raise self._is_lost()


class _BucketLock(_Lock):
    """A lock that a thread renews. For what the methods do see `_FolderLock`."""

    def __init__(self, store: Store, name: str, run: str, clock: Clock, seconds: float):
        super().__init__(store, name, run, clock)
        self.seconds, self._expires = seconds, clock()
        self._writing, self._stop = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._renew_until_stopped, name=f"lease {name}", daemon=True)

    def take(self) -> None:
        self._write()
        self._taken = True
        self._thread.start()

    def release(self) -> None:
        if self._taken:
            self._stop.set()
            self._thread.join()
            with suppress(BusyError, StorageError):  # it was lost, or expires by itself
                self._write(released=True)

    def announce(self, doomed: list[str]) -> None:
        with hold_back():
            self._holder = self._holder | {"doomed": doomed}
            self._write()

    def check(self) -> None:
        if self.clock() >= self._expires:
            raise self._is_lost()

    def _renew_until_stopped(self) -> None:
        while not self._stop.wait(self.seconds / _RENEWALS_PER_LEASE):
            with suppress(BusyError, StorageError):  # `check` compares the time; the store may answer again before
                self._write()

    def _write(self, *, released: bool = False) -> None:
        """Write the lock with a new expiry, or raise BusyError: another run has it."""
        # rounded to seconds, as other runs read it
        expires = parse_timestamp(timestamp(self.clock() + timedelta(seconds=self.seconds)))

        def change(data: bytes | None) -> bytes:
            holder = _parse_holder(data)
            is_mine = holder is not None and holder.get("nonce") == self._holder["nonce"]
            if self._taken and not is_mine:
                self._expires = from_unix_time(0)
                raise self._is_lost()
            if holder and not is_mine and not _has_expired(holder, self.clock):
                way_out = f"if it was killed, its lock ends at {holder['expires']}, or by `cardpress unlock --force`"
                raise self._is_busy(holder, way_out)
            return _to_json(self._holder | {"expires": timestamp(expires), "released": released})

        with self._writing:
            update_json(self.store, self.name, change)
            self._expires = expires


Lock = _FolderLock | _BucketLock


def current_holder(store: Store, name: str, clock: Clock) -> Holder | None:
    """Return the fields of a lock that is held now, or None."""
    found = store.get_versioned(name)
    holder = _parse_holder(found.data if found else None)
    if holder is None:
        return None
    if store.local_path(name):
        path = _lock_file(store, name)
        return holder if path.exists() and is_locked(path) else None
    return None if _has_expired(holder, clock) else holder


def described(holder: Holder) -> str:
    return "run {run} on {host} (process {pid}) since {since}".format(**holder)


def release_lock(store: Store, name: str, *, force: bool, clock: Clock) -> Holder | None:
    """Release a lock that is held, and return its fields. Without `force` raise BusyError: its run may be alive."""
    holder = current_holder(store, name, clock)
    if holder is None:
        return None
    if not force:
        # the system releases the lock of a folder when its process ends
        is_folder = store.local_path(name) is not None
        state = "is alive: wait until it ends" if is_folder else "may be alive: check there, then pass --force"
        raise BusyError(f"{name} is held by {described(holder)}, which {state}")
    if store.local_path(name):
        _lock_file(store, name).unlink(missing_ok=True)
        store.delete([name])
    else:
        update_json(store, name, lambda data: _to_json((_parse_holder(data) or {}) | {"released": True}))
    return holder


@contextmanager
def declare_intent(store: Store, build_id: str, folders: Iterable[str], clock: Clock) -> Iterator[None]:
    """Protect a build and its layers from a prune inside the `with` block."""
    folders = sorted(folders)
    mine = {build_id, *folders}
    name = layout.intent_name(build_id, secrets.token_hex(8))
    try:  # a signal may end the run as soon as the intent is written
        store.put(name, _to_json({"build": build_id, "layers": folders, "since": timestamp(clock())}))
        while (prune := current_holder(store, layout.PRUNE_LOCK, clock)) and not mine.isdisjoint(prune["doomed"]):
            time.sleep(_PRUNE_POLL_SECONDS)
        yield
    finally:
        with suppress(StorageError):  # the intent expires by its age
            store.delete([name])


def read_intents(store: Store, clock: Clock, max_age: timedelta) -> set[str]:
    """Return the builds and the layers' folders that the intents younger than `max_age` name."""
    named: set[str] = set()
    for entry in store.entries(layout.INTENTS):
        if from_unix_time(entry.modified) > clock() - max_age:
            with suppress(MissingObject, ValueError, KeyError, TypeError):  # deleted meanwhile, or not an intent
                intent = read_json(store, entry.name)
                named.update((intent["build"], *intent["layers"]))
    return named


def _lock_file(store: Store, name: str) -> Path:
    path = store.local_path(name)
    assert path is not None, "a bucket has no files"
    return path.with_name(f".{path.name}")


def _to_json(fields: Holder) -> bytes:
    return json.dumps(fields, indent=1).encode() + b"\n"


def _parse_holder(data: bytes | None) -> Holder | None:
    """Return the fields of a lock, or None if there is none, it was released, or it is not valid and so not held."""
    with suppress(ValueError, TypeError, AttributeError):
        fields: Holder = parse_json(data or b"{}")
        if not fields.get("released") and {"run", "host", "pid", "since", "doomed"} <= fields.keys():
            return fields
    return None


def _has_expired(holder: Holder, clock: Clock) -> bool:
    try:
        return parse_timestamp(holder["expires"]) <= clock()
    except (ValueError, KeyError, TypeError):
        return True


@contextmanager
def hold_back() -> Iterator[None]:
    """Let SIGTERM wait inside the `with` block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if _WAITING and before is not _wait:
            signal.raise_signal(_WAITING.pop())


def _wait(number: int, _: object) -> None:
    _WAITING[:] = [number]


@contextmanager
def end_by_error(what: str) -> Iterator[None]:
    """Raise TerminatedError inside the `with` block on SIGTERM, also on one that waited. Stands inside `hold_back`."""
    from generator.database import interrupt_queries  # DuckDB: commands that take no lock never need it

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    end = TerminatedError(f"the {what} was ended by SIGTERM; `cardpress show` says which build is live")
    received = False

    def stop(*_: object) -> None:
        nonlocal received
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second signal must not interrupt what follows
        received = True
        interrupt_queries()
        raise end

    before = signal.signal(signal.SIGTERM, stop)
    try:
        if _WAITING:
            _WAITING.clear()
            stop()
        yield
    except Exception as error:  # DuckDB puts its own exception in place of one that a handler raises
        if received and error is not end:
            raise end from error
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def with_reserve(store: Store, action: Callable[[], _Result]) -> _Result:
    """Return the result of an action. If the disk is full, free the reserve and try once more."""
    try:
        return action()
    except (GeneratorError, StorageError, OSError) as error:
        if not is_disk_full(error) or not _release(store):
            raise
    return action()


def free_reserve_if_full(store: Store) -> None:
    """Delete the reserve if the disk of a folder store is full, so that a night can take its lock and prune."""
    folder = store.local_path("")
    if folder is not None and folder.is_dir() and shutil.disk_usage(folder).free < settings.RESERVE_BYTES // 2:
        _release(store)


def keep_reserve(store: Store) -> None:
    """Write the reserve of a folder store if it is missing and there is room."""
    if store.local_path("") and store.stat(layout.RESERVE) is None:
        with suppress(StorageError):  # no room
            # Random bytes, because zeros may take no room; always the same, so that equal stores stay equal.
            store.put(layout.RESERVE, random.Random(0).randbytes(settings.RESERVE_BYTES))


def _release(store: Store) -> bool:
    found = bool(store.local_path("")) and store.stat(layout.RESERVE) is not None
    if found:
        store.delete([layout.RESERVE])
    return found
