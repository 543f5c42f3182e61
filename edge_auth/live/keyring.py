"""The key records in force in a shim.

Across a network, a record that was used is copied to this machine, for all workers, their nginx and the next start. The
list of changes is copied too. When it names a record, the copy is deleted.
"""

from array import array
from contextlib import suppress
from threading import Lock, Semaphore

from edge_auth.live.background import POLL_SECONDS, Poller
from edge_auth.live.log import Log
from generator.storage import layout
from generator.storage.errors import KeyFormatError, StoreError
from generator.storage.keys import KeyChanges, KeyFile, KeyRecord
from generator.storage.stores.folder import FolderStore

_FIRST_SECONDS = 1.0  # how long a request waits for the first poll
_MAX_KEPT = 20_000  # records; to read another one from a file takes 0.05 ms
_MISSES_PER_SECOND = 10  # between two polls, reads of records that are not there; beyond them names are listed


class UsedKeys(KeyFile):
    """The records that were used of a store across a network, in a folder of this machine."""

    def __init__(self, folder: FolderStore):
        super().__init__(folder, layout.KEYS)
        self._folder = folder
        self._is_current = False

    def followed(self) -> KeyChanges:
        """Return the changes that the copies have followed."""
        with suppress(KeyFormatError, StoreError):
            return KeyFile(self._folder, layout.KEYS).changes()  # an own one: threads share this object
        return KeyChanges()

    def copy_of(self, sha256: str) -> KeyRecord | None:
        """Return the copy of a record that is in force, or None."""
        if self._is_current:
            with suppress(KeyFormatError, StoreError):  # a copy that a power cut has damaged
                return self.find(sha256)
        return None

    def keep(self, record: KeyRecord, before: KeyChanges) -> None:
        """Copy a record, unless it has changed since it was read."""
        with suppress(StoreError, OSError), self._folder.locked():
            changed = self.followed().since(before)
            if changed is not None and record.sha256 not in changed:
                self._folder.put(self.object_of(record.sha256), record.to_bytes())

    def follow(self, new: KeyChanges) -> None:
        """Delete the copies that are not in force any more. None is used until this has succeeded.

        The list goes first: without it nginx uses no copy, and if this ends early, the next call deletes all.
        """
        self._is_current = self.followed() == new
        if not self._is_current:
            with self._folder.locked():
                followed = self.followed()
                changed = new.since(followed) if followed.version else None
                hashes = self.hashes() if changed is None else changed
                self._folder.delete([layout.KEYS, *map(self.object_of, hashes)])
                self._folder.put(layout.KEYS, new.to_bytes())
            self._is_current = True

    def last(self) -> KeyChanges | None:
        """Use the copies as they are, since the store fails at the start. Return what they have followed, or None."""
        self._is_current = True
        followed = self.followed()
        return followed if followed.version else None


class Keyring:
    """The key records by the hash of the key, with copies of those across a network."""

    def __init__(self, file: KeyFile, log: Log, copies: UsedKeys | None = None, poll_seconds: float = POLL_SECONDS):
        self._file, self._copies = file, copies
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
        self._poller.renew()
        record = self._kept.get(sha256)
        if record is None:
            before = self.check()
            record = self._file.find(sha256) if self._copies is None else self._find_away(self._copies, sha256, before)
            if record is not None:
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
        if found is not None:
            copies.keep(found, before)
            if is_counted:
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
            if self._copies is not None:
                self._copies.follow(new)
        except (StoreError, OSError) as error:
            problem = f"copies of key records are not used, since they cannot follow a change: {error}"
            self._log.once(problem)
        self.last_error = problem
        with self._keeping:
            changed = new.since(self._changes or KeyChanges())
            for sha256 in list(self._kept) if changed is None else changed:
                self._kept.pop(sha256, None)
            self._changes = new
        return True


def _number(sha256: str) -> int:
    return int(sha256[:16], 16)
