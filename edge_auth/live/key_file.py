"""The key records in a store. They belong to no build, so a rollback does not bring back revoked keys.

    keys/a3/a3f….json   the record of a key, named by the SHA-256 of the key
    keys.json           {"version": 17, "changes": ["a3f…", …]}: one more with each change, and which keys changed last

A writer changes a record first, and then `keys.json`. So a reader that has seen a version finds its changes in the
records, and one that polls `keys.json` knows which records to read again. `nginx/state.lua` reads the same files.
A file that cannot be read is a KeyFormatError, an id without a record an UnknownKey.
"""

import json
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

from edge_auth.builds import layout
from edge_auth.errors import Conflict, KeyFormatError, StoreError, UnknownKey
from edge_auth.live.keys import ID_DIGITS, ID_PREFIX, KeyRecord
from edge_auth.store.interface import Store, Versioned, parse_json, update_json
from edge_auth.store.open import open_store, parent_and_name

MAX_CHANGES = 100
_JSON = ".json"
_THREADS = 32
_BATCH = 1000  # records that are asked for before the progress is shown
_SHA256 = re.compile("[0-9a-f]{64}")
_ID = re.compile(f"{ID_PREFIX}([0-9a-f]{{{ID_DIGITS},64}})")


@dataclass(frozen=True)
class KeyChanges:
    """What `keys.json` says: a number that grows with each change, and the hashes of the keys that changed last."""

    version: int = 0
    latest: tuple[str, ...] = ()

    def and_(self, sha256: str) -> "KeyChanges":
        """Return what the file says after one more change."""
        return KeyChanges(self.version + 1, (*self.latest, sha256)[-MAX_CHANGES:])

    def since(self, known: "KeyChanges") -> set[str] | None:
        """Return the hashes of the keys that changed since then, or None if that is not known any more."""
        number = self.version - known.version
        if not 0 <= number <= len(self.latest):
            return None
        both = self.latest[: len(self.latest) - number]
        if both != known.latest[len(known.latest) - len(both) :] or (known.latest and not both):
            return None  # the file was restored from a backup, or is another one
        return set(self.latest[len(both) :])

    def to_bytes(self) -> bytes:
        return json.dumps({"version": self.version, "changes": self.latest}, indent=0).encode() + b"\n"

    @staticmethod
    def parse(data: bytes) -> "KeyChanges":
        try:
            document = parse_json(data)
            version, latest = document["version"], tuple(document["changes"])
            if type(version) is not int or not all(_SHA256.fullmatch(sha256) for sha256 in latest):
                raise TypeError("a field has the wrong type")
        except (ValueError, KeyError, TypeError) as error:
            raise KeyFormatError(
                f"the list of changed keys cannot be read ({error!r}): delete the file {layout.KEYS}, and "
                "`cardpress keys issue` writes a new one; records of other versions have to be issued anew"
            ) from error
        return KeyChanges(version, latest)


class KeyFile:
    """The key records of a store. `name` is that of `keys.json` there."""

    def __init__(self, store: Store, name: str):
        self.store = store
        self.name = name
        self._known: Versioned | None = None
        self._changes = KeyChanges()

    def changes(self) -> KeyChanges:
        """Return what `keys.json` says, or said before it was lost. Without the file there were no changes yet."""
        found = self.store.get_versioned(self.name, self._known)
        if found and found is not self._known:
            self._changes, self._known = KeyChanges.parse(found.data), found
        return self._changes

    def find(self, sha256: str) -> KeyRecord | None:
        found = self.store.get_versioned(self.object_of(sha256))
        if found is None and self._known and self.store.stat(self.name) is None:
            raise StoreError(f"{self.name} was in {self.store.location} before: restore the folder of the keys")
        return KeyRecord.from_bytes(sha256, found.data) if found else None

    def hashes(self, first_digits: str = "") -> list[str]:
        """Return the hashes of all keys, or of those with the same first two digits."""
        folder = self.name.removesuffix(_JSON) + "/" + (f"{first_digits}/" if first_digits else "")
        names = (name.rpartition("/")[2].removesuffix(_JSON) for name in self.store.list(folder))
        return [name for name in names if _SHA256.fullmatch(name)]

    def records(
        self,
        progress: Callable[[int], Any] = lambda number: nullcontext(),
        on_broken: Callable[[KeyFormatError], object] | None = None,
    ) -> list[KeyRecord]:
        """Return all records, the oldest first. `on_broken` takes the error of each that cannot be read.

        `progress` returns the context of a bar of so many steps, whose `update` counts them.
        """
        hashes, found = self.hashes(), list[KeyRecord]()

        def find(sha256: str) -> KeyRecord | None:
            try:
                return self.find(sha256)
            except KeyFormatError as error:
                if on_broken is None:
                    raise
                on_broken(error)
                return None

        with ThreadPoolExecutor(_THREADS) as pool, progress(len(hashes)) as bar:
            for start in range(0, len(hashes), _BATCH):
                some = hashes[start : start + _BATCH]
                found += filter(None, pool.map(find, some))
                if bar is not None:
                    bar.update(len(some))
        return sorted(found, key=lambda record: (record.created_at, record.sha256))

    def add(self, record: KeyRecord) -> None:
        self.changes()  # raises before anything is changed, if the list cannot be read
        with suppress(Conflict):  # it is there
            self.store.swap(self.object_of(record.sha256), record.to_bytes(), None)
        self._note(record.sha256)

    def update(self, id_: str, **changes: Any) -> KeyRecord:
        """Change fields of the record with this id. Return the new record."""
        self.changes()  # as in `add`
        sha256 = self._hash_of(id_)
        changed: KeyRecord | None = None

        def change(data: bytes | None) -> bytes | None:
            nonlocal changed
            changed = None if data is None else replace(KeyRecord.from_bytes(sha256, data), **changes)
            return changed.to_bytes() if changed else None

        update_json(self.store, self.object_of(sha256), change)
        if changed is None:
            raise _unknown(id_)
        self._note(sha256)  # also if the record is as it was: an earlier command may have ended before this
        return changed

    def object_of(self, sha256: str) -> str:
        return f"{self.name.removesuffix(_JSON)}/{sha256[:2]}/{sha256}{_JSON}"

    def _hash_of(self, id_: str) -> str:
        """Return the hash of the only key with this id, which may have more digits than it is shown with."""
        digits = _ID.fullmatch(id_)
        found = [sha256 for sha256 in self.hashes(digits[1][:2]) if sha256.startswith(digits[1])] if digits else []
        if not found:
            raise _unknown(id_)
        if len(found) > 1:
            raise UnknownKey(f"{len(found)} keys have the id {id_}: name one by {ID_PREFIX}{' or '.join(found)}")
        return found[0]

    def _note(self, sha256: str) -> None:
        def change(data: bytes | None) -> bytes:
            # A list that was deleted goes on beyond its numbers, so that readers do not take the new one for it.
            before = KeyChanges(time.time_ns() // 1_000_000) if data is None else KeyChanges.parse(data)
            return before.and_(sha256).to_bytes()

        update_json(self.store, self.name, change)


def open_key_file(store: str, keys: str | None = None, timeout_seconds: float | None = None) -> KeyFile:
    """Open the key records of a store, or those at `keys`: a folder or prefix, or a path that ends in .json."""
    if keys is None:
        return KeyFile(open_store(store, timeout_seconds), layout.KEYS)
    if keys.endswith(_JSON):
        folder, name = parent_and_name(keys)
        return KeyFile(open_store(folder, timeout_seconds, private=True), name)
    return KeyFile(open_store(keys, timeout_seconds, private=True), layout.KEYS.removeprefix(layout.PRIVATE))


def _unknown(id_: str) -> UnknownKey:
    return UnknownKey(f"no key has the id {id_!r}: `cardpress keys list` shows them")
