"""Copies of the key records that clients of this machine have used, for a shim whose keys are across a network.

All workers share them, and so do their nginx and the next start. A copy is deleted when the list of changes names it.
"""

from array import array
from bisect import bisect_left
from contextlib import suppress
from threading import BoundedSemaphore, Lock
from time import monotonic

from edge_auth.errors import KeyFormatError, StoreError
from edge_auth.live.key_file import KeyChanges, KeyFile
from edge_auth.live.keys import KeyRecord
from edge_auth.live.poller import Budget
from edge_auth.store.folder import FolderStore

_MISSES_PER_SECOND = 10  # reads of records that are not there; beyond them the names of all records are listed
_UNKNOWN_SECONDS = 2.0  # for how long a hash is known to have no record, unless a key changes before
_MAX_UNKNOWN = 10_000
_READS_AT_ONCE = 8
_READ_SECONDS = 1.0  # how long a request waits for the others


class KeyCopies:
    """The records of a store across a network, read once each. A keyring reads them as it reads a `KeyFile`.

    Args:
        folder: Where the copies are.
        name: The name of `keys.json` there.

    Attributes:
        problem: Why the copies cannot follow the changes and are not used, or ''.
    """

    def __init__(self, original: KeyFile, folder: FolderStore, name: str):
        self._original = original
        self._folder = folder
        self._copies = KeyFile(folder, name)
        self._places = BoundedSemaphore(_READS_AT_ONCE)
        self._budget = Budget(_MISSES_PER_SECOND, _MISSES_PER_SECOND)
        self._unknown: dict[str, float] = {}  # until when, by hash
        self._names: dict[str, tuple[KeyChanges, array[int]]] = {}  # by the first digits of the hash
        self._listing = [Lock() for _ in range(256)]  # by the first digits of the hash
        self._reading_copy = Lock()
        self._failure = ""
        self._changes = KeyChanges()
        self.problem = ""

    def changes(self) -> KeyChanges:
        """Return what `keys.json` says now, after the copies that it names were deleted.

        Raises:
            KeyFormatError, StoreError: It cannot be read.
        """
        try:
            found = self._original.changes()
        except (KeyFormatError, StoreError) as error:
            self._failure = str(error)
            if not self._changes.version:  # after a start, what was used before stays in force
                self._changes = self._copied()
                if self._changes.version:
                    return self._changes
            raise
        self._failure = ""
        if found != self._changes:
            self._unknown.clear()
        self.problem = "" if found == self._copied() else self._delete_changed(found)
        self._changes = found
        return found

    def find(self, sha256: str) -> KeyRecord | None:
        """Return the record of the key with this hash, or None.

        Raises:
            KeyFormatError, StoreError: It cannot be read.
        """
        copy = None if self.problem else self._find_copy(sha256)
        if copy is not None:
            return copy
        if self._unknown.get(sha256, 0) > monotonic():
            return None
        if self._failure:
            raise StoreError(self._failure)
        if not self._budget.take():
            return self._read(sha256) if self._may_exist(sha256) else None
        record = self._read(sha256)
        if record is not None:
            self._budget.give_back()
        return record

    def _find_copy(self, sha256: str) -> KeyRecord | None:
        with suppress(KeyFormatError, StoreError):  # a copy that a power cut has damaged
            return self._copies.find(sha256)
        return None

    def _may_exist(self, sha256: str) -> bool:
        """Return whether there may be such a record. So wrong keys, however many, cost nothing and delay no right one.

        The names of the records with the same first digits are listed once, and followed by the changes. Other keys do
        not wait for this.
        """
        listing = self._listing[int(sha256[:2], 16)]
        if not listing.acquire(timeout=_READ_SECONDS):
            return True
        try:
            new, names = self._names_like(sha256[:2])
        finally:
            listing.release()
        number = _number(sha256)
        place = bisect_left(names, number)
        return sha256 in new or (place < len(names) and names[place] == number)

    def _names_like(self, digits: str) -> "tuple[set[str], array[int]]":
        """Return the hashes with these first digits: those that changed since the others were listed, and these."""
        changes, names = self._names.get(digits, (None, None))
        new = self._changes.since(changes) if changes is not None else None
        if new is None or names is None:
            changes, new = self._changes, set()
            names = array("Q", sorted(map(_number, self._original.hashes(digits))))
            self._names[digits] = changes, names
        return new, names

    def _read(self, sha256: str) -> KeyRecord | None:
        before = self._copied()
        if not self._places.acquire(timeout=_READ_SECONDS):
            raise StoreError("too many key records are being read at the same time")
        try:
            record = self._original.find(sha256)
        finally:
            self._places.release()
        if record is None:
            self._note_unknown(sha256)
        else:
            self._copy(record, before)
        return record

    def _note_unknown(self, sha256: str) -> None:
        if len(self._unknown) >= _MAX_UNKNOWN:
            self._unknown.clear()
        self._unknown[sha256] = monotonic() + _UNKNOWN_SECONDS

    def _copied(self) -> KeyChanges:
        """Return the changes that the copies have followed."""
        with self._reading_copy, suppress(KeyFormatError, StoreError):
            return self._copies.changes()
        return KeyChanges()

    def _copy(self, record: KeyRecord, before: KeyChanges) -> None:
        """Keep a record, unless it has changed since it was read."""
        with suppress(StoreError, OSError), self._folder.locked():
            changed = self._copied().since(before)
            if changed is not None and record.sha256 not in changed:
                self._folder.put(self._copies.object_of(record.sha256), record.to_bytes())

    def _delete_changed(self, found: KeyChanges) -> str:
        """Delete the copies that are not in force any more. Return why this failed, or ''.

        The list goes first: without it nginx uses no copy, and if this ends early, the next call deletes all.
        """
        try:
            with self._folder.locked():
                copied = self._copied()
                changed = found.since(copied) if copied.version else None
                hashes = self._copies.hashes() if changed is None else changed
                self._folder.delete([self._copies.name, *map(self._copies.object_of, hashes)])
                self._folder.put(self._copies.name, found.to_bytes())
        except (StoreError, OSError) as error:
            return f"copies of key records are not used, since they cannot follow a change: {error}"
        return ""


def _number(sha256: str) -> int:
    return int(sha256[:16], 16)
