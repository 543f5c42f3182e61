"""API keys: their form, and their records in a store.

Only the SHA-256 of a key is stored. A key has 190 random bits, so it cannot be guessed from a fast hash. The records
belong to no build, so a rollback does not bring back revoked keys.

    keys/a3/a3f….json   the record of a key, named by the SHA-256 of the key
    keys.json           {"version": 17, "changes": ["a3f…", …]}: one more with each change, and which keys changed last

A writer changes a record first, and then `keys.json`. So a reader that has seen a version finds its changes in the
records, and one that polls `keys.json` knows which records to read again.
A file that cannot be read is a KeyFormatError, an id without a record a StorageError.
"""

import hashlib
import json
import re
import secrets
import string
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from typing import Any

from generator.storage import layout
from generator.storage.errors import Conflict, KeyFormatError, OtherVersion, StorageError, StoreError
from generator.storage.stores.interface import Store, Versioned, parse_json, update_json
from generator.storage.stores.open import open_store
from generator.storage.times import unix_timestamp

KEY_PREFIX = "cpm_live_"
WATCHLIST_READ, CARDS_READ, FINGERPRINTS_READ = "watchlist:read", "cards:read", "fingerprints:read"
BULK_READ = "bulk:read"
SCOPES = (WATCHLIST_READ, CARDS_READ, FINGERPRINTS_READ, BULK_READ)
GUEST_SCOPES = (CARDS_READ, WATCHLIST_READ)  # of requests without a key, where they are allowed
DEFAULT_RATE_LIMIT, MAX_RATE_LIMIT = 120, 1_000_000_000
_ALPHABET = string.ascii_letters + string.digits
KEY = re.compile(KEY_PREFIX + "[A-Za-z0-9]{32}")
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(_DAY.pattern + r"[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?")
_TIMESTAMP = re.compile(_DAY.pattern + "T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
ID_PREFIX, ID_DIGITS = "key_", 12
MAX_CHANGES = 100
_JSON = ".json"
_THREADS = 32
_SHA256 = re.compile("[0-9a-f]{64}")
_ID = re.compile(f"{ID_PREFIX}([0-9a-f]{{{ID_DIGITS},64}})")


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """The stored record of a key. Times are `YYYY-MM-DDTHH:MM:SSZ`."""

    sha256: str  # the hash of the key in hex, which names the record
    name: str
    prefix: str  # the first characters of the key, by which an operator recognises it
    scopes: tuple[str, ...]
    rate_limit: int  # requests per minute
    created_at: str
    expires_at: str | None = None
    revoked: bool = False

    @property
    def id(self) -> str:
        """The id that operators, logs and counters use: the first digits of the hash."""
        return ID_PREFIX + self.sha256[:ID_DIGITS]

    def expired(self, now: float) -> bool:
        """Return whether `now` (Unix time) is after the last second in which the key is valid."""
        return self.expires_at is not None and unix_timestamp(now) > self.expires_at

    def public(self) -> dict[str, Any]:
        """Return the Key of the API: all fields except `sha256` and `revoked`."""
        return {name: getattr(self, name) for name in ("id", *_PUBLIC)}

    def to_bytes(self) -> bytes:
        """Return the content of the record's object. The hash is in its name."""
        fields = {name: getattr(self, name) for name in (*_PUBLIC, "revoked")}
        return json.dumps(fields, ensure_ascii=False).encode() + b"\n"

    @staticmethod
    def from_bytes(sha256: str, data: bytes) -> "KeyRecord":
        """Return the record of the key with this hash. Raise KeyFormatError if a field is missing or wrong."""
        try:
            fields = parse_json(data)
            record = KeyRecord(sha256, **{name: fields[name] for name in (*_PUBLIC, "revoked")})
            if not isinstance(record.scopes, list):
                raise TypeError("its scopes are no list")
            record = replace(record, scopes=tuple(record.scopes))
            texts = (record.name, record.prefix, record.created_at, *record.scopes)
            if not all(isinstance(text, str) for text in texts) or not isinstance(record.revoked, bool):
                raise TypeError("a field has the wrong type")
            if type(record.rate_limit) is not int or not 1 <= record.rate_limit <= MAX_RATE_LIMIT:
                raise ValueError(f"its rate limit is no integer from 1 to {MAX_RATE_LIMIT}")
            if record.expires_at is not None and not _TIMESTAMP.fullmatch(record.expires_at):
                raise ValueError(f"it expires at {record.expires_at!r}, which is not a timestamp")
        except (ValueError, KeyError, TypeError) as error:
            name = ID_PREFIX + sha256[:ID_DIGITS]  # the log hides whole hashes
            raise KeyFormatError(
                f"the record of {name} cannot be read ({error}): restore the file whose name begins with its digits"
            ) from error
        return record


_PUBLIC = ("name", "prefix", "scopes", "rate_limit", "created_at", "expires_at")


def parse_expiry(text: str) -> str:
    """Return the timestamp that an operator means by a day (its last second) or by a timestamp (UTC without a zone)."""
    if _DAY.fullmatch(text):
        return datetime.fromisoformat(text).date().isoformat() + "T23:59:59Z"
    if not _MOMENT.fullmatch(text):
        raise ValueError(f"{text!r} is neither a day (2026-12-31) nor a timestamp (2026-12-31T12:00:00Z)")
    moment = datetime.fromisoformat(text)
    return unix_timestamp((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def issue(
    name: str, scopes: Sequence[str], rate_limit: int, expires_at: str | None, now: float
) -> tuple[str, KeyRecord]:
    """Return a new key and its record. The key cannot be read from the record again."""
    key = KEY_PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(32))
    ordered = tuple(scope for scope in SCOPES if scope in scopes)
    prefix = key[: len(KEY_PREFIX) + 4]
    return key, KeyRecord(digest(key), name, prefix, ordered, rate_limit, unix_timestamp(now), expires_at)


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
    def parse(data: bytes, location: str = "STORE") -> "KeyChanges":
        """Return the changes that `keys.json` of the store at a location lists, or raise KeyFormatError."""
        try:
            document = parse_json(data)
            if isinstance(document, dict) and "format" in document:
                raise OtherVersion(
                    f"the keys in {location} are of another version of cardpress: `cardpress keys import {location} "
                    "--store NEW` takes them into a store of this version"
                )
            version, latest = document["version"], tuple(document["changes"])
            if type(version) is not int or not all(_SHA256.fullmatch(sha256) for sha256 in latest):
                raise TypeError("a field has the wrong type")
        except (ValueError, KeyError, TypeError) as error:
            raise KeyFormatError(
                f"the list of changed keys cannot be read ({error!r}): restore {layout.KEYS}, or move it elsewhere; "
                "the next `cardpress keys update` writes a new one, and no key is lost"
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
            self._changes, self._known = KeyChanges.parse(found.data, self.store.location), found
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
        hashes = self.hashes()

        def find(sha256: str) -> KeyRecord | None:
            try:
                return self.find(sha256)
            except KeyFormatError as error:
                if on_broken is None:
                    raise
                on_broken(error)
                return None

        with ThreadPoolExecutor(_THREADS) as pool, progress(len(hashes)) as bar:
            found = []
            for record in pool.map(find, hashes):
                found.append(record)
                if bar is not None:
                    bar.update(1)
        return sorted(filter(None, found), key=lambda record: (record.created_at, record.sha256))

    def add(self, record: KeyRecord) -> None:
        self.changes()  # raises before anything is changed, if the list cannot be read
        with suppress(Conflict):  # it is there
            self.store.swap(self.object_of(record.sha256), record.to_bytes(), None)
        self._note(record.sha256)

    def merge(self, records: Sequence[KeyRecord]) -> int:
        """Add records, or replace those of the same keys; what is revoked here stays so. Return how many changed."""
        self.changes()  # as in `add`
        with ThreadPoolExecutor(_THREADS) as pool:
            changed = sum(pool.map(self._merge, records))
        self._note(*(record.sha256 for record in records))  # as in `update`
        return changed

    def _merge(self, record: KeyRecord) -> bool:
        """Put one record in place. Return whether it was not there, or was another one."""
        changed = False

        def change(data: bytes | None) -> bytes:
            nonlocal changed
            revoked = data is not None and KeyRecord.from_bytes(record.sha256, data).revoked
            merged = (replace(record, revoked=True) if revoked else record).to_bytes()
            changed = merged != data
            return merged

        update_json(self.store, self.object_of(record.sha256), change)
        return changed

    def update(self, id_: str, **changes: Any) -> KeyRecord:
        """Change fields of the record with this id. Return the new record."""
        self.changes()  # as in `add`
        sha256, changed = self._hash_of(id_), list[KeyRecord]()

        def change(data: bytes | None) -> bytes:
            changed.append(replace(KeyRecord.from_bytes(sha256, data or b""), **changes))
            return changed[-1].to_bytes()

        update_json(self.store, self.object_of(sha256), change)
        self._note(sha256)  # also if the record is as it was: an earlier command may have ended before this
        return changed[-1]

    def object_of(self, sha256: str) -> str:
        return f"{self.name.removesuffix(_JSON)}/{sha256[:2]}/{sha256}{_JSON}"

    def _hash_of(self, id_: str) -> str:
        """Return the hash of the only key with this id, which may have more digits than it is shown with."""
        digits = _ID.fullmatch(id_)
        found = [sha256 for sha256 in self.hashes(digits[1][:2]) if sha256.startswith(digits[1])] if digits else []
        if not found:
            raise StorageError(f"no key has the id {id_!r}: `cardpress keys list` shows them")
        if len(found) > 1:
            raise StorageError(f"{len(found)} keys have the id {id_}: name one by {ID_PREFIX}{' or '.join(found)}")
        return found[0]

    def _note(self, *hashes: str) -> None:
        def change(data: bytes | None) -> bytes:
            # A list that was deleted goes on beyond its numbers, so that readers do not take the new one for it.
            before = KeyChanges(time.time_ns() // 1_000_000) if data is None else KeyChanges.parse(data)
            return reduce(KeyChanges.and_, hashes, before).to_bytes()

        update_json(self.store, self.name, change)


def open_key_file(store: str, keys: str | None = None, timeout_seconds: float | None = None) -> KeyFile:
    """Open the key records of a store, or those at `keys`: a folder or prefix, or a path that ends in .json."""
    if keys is None:
        return KeyFile(open_store(store, timeout_seconds), layout.KEYS)
    if keys.endswith(_JSON):
        folder, slash, name = keys.rpartition("/")
        return KeyFile(open_store(folder or slash or ".", timeout_seconds, private=True), name)
    return KeyFile(open_store(keys, timeout_seconds, private=True), layout.KEYS.removeprefix(layout.PRIVATE))
