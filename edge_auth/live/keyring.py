"""The key records in force in a shim, and what its nginx may answer for.

Records that were used are written down in a folder of this machine: across a network for all workers and the next
start, and for the nginx of a shim. So is the list of changes. When it names a record, the record's file is deleted.
The first line of a file is for nginx, which reads no more of it: whether it may answer for the key. That of the list is
about guests. What nginx does not find there goes to the shim, which alone reads and judges records.
"""

from array import array
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock, Semaphore
from time import monotonic

from edge_auth.live.background import POLL_SECONDS, Poller
from edge_auth.live.log import Log
from generator.storage import layout
from generator.storage.errors import KeyFormatError, StoreError
from generator.storage.keys import GUEST_SCOPES, SCOPES, KeyChanges, KeyFile, KeyRecord
from generator.storage.stores.folder import FolderStore

_FIRST_SECONDS = 1.0  # how long a request waits for the first poll
_MAX_KEPT = 20_000  # records; to read another one from a file takes 0.05 ms
_MISSES_PER_SECOND = 10  # between two polls, reads of records that are not there; beyond them names are listed
_WRITTEN_SECONDS = 30.0  # after which a record that is used is written down again, if its file is gone


def grant(limit: int, expires_at: str | None, scopes: Sequence[str]) -> bytes:
    """Return the line that lets nginx answer: the requests a minute, the last second or "-", the scopes."""
    return f"{limit} {expires_at or '-'} {' '.join(scopes)}\n".encode()


class UsedKeys:
    """The records that were used of a store that may be `away`, across a network, in a folder of this machine."""

    def __init__(self, folder: FolderStore, guest_limit: int = 0, away: bool = True):
        self.away = away
        self._folder, self._file = folder, KeyFile(folder, layout.KEYS)
        self._guests = grant(guest_limit, None, GUEST_SCOPES) if guest_limit else b"\n"
        self._is_current = False

    def followed(self) -> KeyChanges:
        """Return the changes that the files have followed."""
        with suppress(KeyFormatError, StoreError):
            if (data := self._read(layout.KEYS)) is not None:
                return KeyChanges.parse(data.partition(b"\n")[2])
        return KeyChanges()

    def copy_of(self, sha256: str) -> KeyRecord | None:
        """Return a record that is in force, or None."""
        if self._is_current:
            with suppress(KeyFormatError, StoreError):  # a file that a power cut has damaged
                data = self._read(self._file.object_of(sha256))
                return KeyRecord.from_bytes(sha256, data.partition(b"\n")[2]) if data is not None else None
        return None

    def keep(self, record: KeyRecord, before: KeyChanges) -> None:
        """Write a record down, unless it has changed since it was read."""
        name, line = self._file.object_of(record.sha256), b"\n"
        if not record.revoked:
            scopes = [scope for scope in SCOPES if scope in record.scopes]
            line = grant(record.rate_limit, record.expires_at, scopes)
        data = line + record.to_bytes()
        with suppress(StoreError, OSError):
            if self._read(name) == data:
                return
            with self._folder.locked():
                changed = self.followed().since(before)
                if changed is not None and record.sha256 not in changed:
                    self._folder.put(name, data)

    def follow(self, new: KeyChanges) -> None:
        """Delete the files that are not in force any more. None is used until this has succeeded.

        The list goes first: without it nginx uses no file, and if this ends early, the next call deletes all.
        """
        data = self._guests + new.to_bytes()
        self._is_current = self._read(layout.KEYS) == data
        if not self._is_current:
            with self._folder.locked():
                followed = self.followed()
                changed = new.since(followed) if followed.version else None
                hashes = self._file.hashes() if changed is None else changed
                self._folder.delete([layout.KEYS, *map(self._file.object_of, hashes)])
                self._folder.put(layout.KEYS, data)
            self._is_current = True

    def last(self) -> KeyChanges | None:
        """Use the files as they are, since the store fails at the start. Return what they have followed, or None."""
        self._is_current = True
        followed = self.followed()
        return followed if followed.version else None

    def _read(self, name: str) -> bytes | None:
        found = self._folder.get_versioned(name)
        return found.data if found else None


class Keyring:
    """The key records by the hash of the key. Those that are used are written down in `used`."""

    def __init__(self, file: KeyFile, log: Log, used: UsedKeys | None = None, poll_seconds: float = POLL_SECONDS):
        self._file, self._used = file, used
        self._copies = used if used and used.away else None
        self._written_at = monotonic()
        self._log = log
        self._is_away = False  # whether a request for a record would wait in vain
        self._kept: dict[str, KeyRecord] = {}
        self._keeping = Lock()
        self._changes: KeyChanges | None = None
        self._misses = Semaphore(_MISSES_PER_SECOND)
        self._names: dict[str, tuple[KeyChanges, array[int]]] = {}  # by the first digits of the hash
        self.last_error = ""  # why the changes could not be read or followed at the last poll
        self._poller = Poller(self._poll, poll_seconds)

    def find(self, sha256: str) -> KeyRecord | None:
        """Return the record of the key with this hash, or None. Raise KeyFormatError if it is damaged."""
        before = self.check()
        record = self._kept.get(sha256)
        if record is None:
            record = self._file.find(sha256) if self._copies is None else self._find_away(self._copies, sha256, before)
            if record is not None:
                if self._used is not None:
                    self._used.keep(record, before)
                self._keep(record, before)
        return record

    def check(self) -> KeyChanges:
        """Return the changes that are in force. Raise StoreError if they could never be read."""
        if self._changes is None:
            self._poller.refresh(_FIRST_SECONDS)
        self._poller.renew()
        if self._changes is None:
            raise StoreError(self.last_error or "the key records are still being read")
        return self._changes

    def _find_away(self, copies: UsedKeys, sha256: str, before: KeyChanges) -> KeyRecord | None:
        """Return a record, which is read across the network if it was not used before.

        Beyond some wrong keys a second, only listed ones are read: a flood costs little and refuses no right key.
        """
        if found := copies.copy_of(sha256):
            return found
        if self._is_away:
            raise StoreError(self.last_error)
        misses = self._misses
        is_counted = misses.acquire(blocking=False)
        found = self._file.find(sha256) if is_counted or self._is_listed(sha256, before) else None
        if found is not None and is_counted:
            misses.release()
        return found

    def _is_listed(self, sha256: str, changes: KeyChanges) -> bool:
        """Return whether there may be such a record. Names are listed once, and followed by the changes."""
        listed, names = self._names.get(sha256[:2], (None, array("Q")))
        new = changes.since(listed) if listed is not None else None
        if new is None:
            new, names = set(), array("Q", map(_number, self._file.hashes(sha256[:2])))
            self._names[sha256[:2]] = changes, names
        return sha256 in new or _number(sha256) in names

    def _keep(self, record: KeyRecord, before: KeyChanges) -> None:
        """Keep a record unless keys changed while it was read: it may be one of them."""
        with self._keeping:
            if len(self._kept) >= _MAX_KEPT:
                self._kept.clear()
            if self._changes is before:
                self._kept[record.sha256] = record

    def _poll(self) -> bool:
        self._misses = Semaphore(_MISSES_PER_SECOND)
        try:
            new = self._file.changes()
            self._is_away = False
        except Exception as error:  # whatever the error is, the next poll may succeed
            self.last_error = str(error) or repr(error)
            self._is_away = self._copies is not None
            if self._changes is None and self._copies is not None:
                self._changes = self._copies.last()
            if self._changes is not None:
                self._log.once(f"the key records that were used stay in force: {self.last_error}")
            return False
        problem = ""
        try:
            if self._used is not None:
                self._used.follow(new)
        except (StoreError, OSError) as error:
            problem = f"key records that were written down are not used, since they cannot follow a change: {error}"
            self._log.once(problem)
        self.last_error = problem
        with self._keeping:
            changed = new.since(self._changes or KeyChanges())
            if self._used is not None and monotonic() > self._written_at + _WRITTEN_SECONDS:
                changed, self._written_at = None, monotonic()
            for sha256 in list(self._kept) if changed is None else changed:
                self._kept.pop(sha256, None)
            self._changes = new
        return True


def _number(sha256: str) -> int:
    return int(sha256[:16], 16)
