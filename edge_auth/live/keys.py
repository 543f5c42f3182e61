"""API keys: their form, their records, and the file that holds the records.

The file is `{"format": 1, "keys": [record, …]}`. It does not belong to a build, so a rollback does not bring back
revoked keys. Only the SHA-256 of a key is stored. A key has 190 random bits, so it cannot be guessed from a fast hash.
"""

import hashlib
import json
import re
import secrets
import string
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

from edge_auth.builds import layout
from edge_auth.errors import KeyFormatError, StoreError, UnknownKey
from edge_auth.live.budget import Budget
from edge_auth.live.log import Log, timestamp
from edge_auth.live.metrics import Metrics
from edge_auth.live.poller import MAX_REFRESHES_PER_SECOND, POLL_SECONDS, Poller
from edge_auth.store.documents import update_json
from edge_auth.store.interface import Store
from edge_auth.store.open import open_store, parent_and_name

FORMAT = 1
KEY_PREFIX = "cpm_live_"
WATCHLIST_READ, CARDS_READ, FINGERPRINTS_READ = "watchlist:read", "cards:read", "fingerprints:read"
BULK_READ = "bulk:read"
SCOPES = (WATCHLIST_READ, CARDS_READ, FINGERPRINTS_READ, BULK_READ)
GUEST_SCOPES = (CARDS_READ, WATCHLIST_READ)  # of requests without a key, where they are allowed
DEFAULT_RATE_LIMIT = 120
_ALPHABET = string.ascii_letters + string.digits
_KEY = re.compile(KEY_PREFIX + "[A-Za-z0-9]{32}")
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(_DAY.pattern + r"[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?")
_TIMESTAMP = re.compile(_DAY.pattern + "T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
KEYS_MAX_AGE_SECONDS = 3600.0
_REFRESH_TIMEOUT_SECONDS = 1


@dataclass(frozen=True)
class KeyRecord:
    """The stored record of a key.

    Attributes:
        prefix: The first characters of the key, by which an operator recognises it.
        sha256: The hash of the key in hex.
        rate_limit: Requests per minute.
        created_at, expires_at: `YYYY-MM-DDTHH:MM:SSZ`.
    """

    id: str
    name: str
    prefix: str
    sha256: str
    scopes: tuple[str, ...]
    rate_limit: int
    created_at: str
    expires_at: str | None = None
    revoked: bool = False

    def expired(self, now: float) -> bool:
        """Return whether `now` (Unix time) is after the last second in which the key is valid."""
        return self.expires_at is not None and timestamp(now) > self.expires_at

    def public(self) -> dict[str, Any]:
        """Return the Key of the API: all fields except `sha256` and `revoked`."""
        return {name: value for name, value in asdict(self).items() if name not in ("sha256", "revoked")}

    @staticmethod
    def from_fields(fields: dict[str, Any]) -> "KeyRecord":
        """Return the record with these fields.

        Raises:
            KeyError, TypeError, ValueError: A field is missing or has a wrong value.
        """
        record = KeyRecord(**{name: fields[name] for name in KeyRecord.__dataclass_fields__})
        texts = [record.id, record.name, record.prefix, record.sha256, record.created_at, *record.scopes]
        if not all(isinstance(text, str) for text in texts) or not isinstance(record.revoked, bool):
            raise TypeError(f"key {record.id!r} has a field of the wrong type")
        if type(record.rate_limit) is not int or record.rate_limit < 1:
            raise ValueError(f"key {record.id!r} has no rate limit of at least 1")
        if record.expires_at is not None and not _TIMESTAMP.fullmatch(record.expires_at):
            raise ValueError(f"key {record.id!r} expires at {record.expires_at!r}, which is not a timestamp")
        return replace(record, scopes=tuple(record.scopes))


def parse_expiry(text: str) -> str:
    """Return the timestamp that an operator means by a day (its last second) or by a timestamp (UTC without a zone).

    Raises:
        ValueError: The text is neither a day nor a timestamp.
    """
    if _DAY.fullmatch(text):
        return datetime.fromisoformat(text).date().isoformat() + "T23:59:59Z"
    if not _MOMENT.fullmatch(text):
        raise ValueError(f"{text!r} is neither a day (2026-12-31) nor a timestamp (2026-12-31T12:00:00Z)")
    moment = datetime.fromisoformat(text)
    return timestamp((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def well_formed(key: str) -> bool:
    """Return whether a text has the form of a key."""
    return _KEY.fullmatch(key) is not None


def digest(key: str) -> str:
    """Return the SHA-256 of a key in hex."""
    return hashlib.sha256(key.encode()).hexdigest()


def issue(
    name: str, scopes: Sequence[str], rate_limit: int, expires_at: str | None, now: float
) -> tuple[str, KeyRecord]:
    """Return a new key and its record. The key cannot be read from the record again."""
    key = KEY_PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(32))
    ordered = tuple(scope for scope in SCOPES if scope in scopes)
    prefix = key[: len(KEY_PREFIX) + 4]
    id_ = "key_" + secrets.token_hex(6)
    return key, KeyRecord(id_, name, prefix, digest(key), ordered, rate_limit, timestamp(now), expires_at)


def parse_records(data: bytes) -> list[KeyRecord]:
    """Return the records in a key file.

    Raises:
        KeyFormatError: The bytes are not a key file, or a newer version wrote them.
    """
    try:
        document = json.loads(data)
        if document["format"] != FORMAT:
            raise ValueError(f"its format is {document['format']!r}, this version reads {FORMAT}")
        return [KeyRecord.from_fields(fields) for fields in document["keys"]]
    except (ValueError, KeyError, TypeError) as error:
        raise KeyFormatError(f"the key records cannot be read: {error}") from error


class KeyFile:
    """The file of key records.

    Attributes:
        name: Its name in the store.
    """

    def __init__(self, store: Store, name: str):
        self.store = store
        self.name = name

    def records(self) -> list[KeyRecord]:
        """Return all records in the order of their issue, or an empty list if there is no file yet."""
        found = self.store.get_versioned(self.name)
        return parse_records(found.data) if found else []

    def add(self, record: KeyRecord) -> None:
        """Append a record."""
        # The record may be in the file already: an earlier swap may have succeeded although its answer was lost.
        self._change(lambda records: records if any(r.id == record.id for r in records) else [*records, record])

    def update(self, id_: str, **changes: Any) -> KeyRecord:
        """Change fields of the record with this id. Return the new record.

        Raises:
            UnknownKey: There is no such record.
        """

        def changed(records: list[KeyRecord]) -> list[KeyRecord]:
            if all(record.id != id_ for record in records):
                raise UnknownKey(f"no key has the id {id_!r}: `cardpress keys list` shows them")
            return [replace(record, **changes) if record.id == id_ else record for record in records]

        return next(record for record in self._change(changed) if record.id == id_)

    def _change(self, edit: Callable[[list[KeyRecord]], list[KeyRecord]]) -> list[KeyRecord]:
        """Apply an edit to the newest records, and return the new ones."""
        records: list[KeyRecord] = []

        def change(data: bytes | None) -> bytes:
            nonlocal records
            records = edit(parse_records(data) if data else [])
            document = {"format": FORMAT, "keys": [asdict(record) for record in records]}
            return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"

        update_json(self.store, self.name, change)
        return records


def open_key_file(store: str, keys: str | None = None, timeout_seconds: float | None = None) -> KeyFile:
    """Open the key file of a store, or the one at `keys`: a folder or prefix, or a path that ends in .json.

    Args:
        timeout_seconds: As for `open_store`.
    """
    if keys is None:
        return KeyFile(open_store(store, timeout_seconds), layout.KEYS)
    if keys.endswith(".json"):
        folder, name = parent_and_name(keys)
        return KeyFile(open_store(folder, timeout_seconds, private=True), name)
    return KeyFile(open_store(keys, timeout_seconds, private=True), layout.KEYS.removeprefix(layout.PRIVATE))


class Keyring:
    """The key records by the hash of the key.

    Args:
        max_age_seconds: How long records stay valid that cannot be read again.

    Attributes:
        last_error: Why the records could not be read at the last poll, or ''.
    """

    def __init__(
        self,
        file: KeyFile,
        log: Log,
        metrics: Metrics,
        max_age_seconds: float = KEYS_MAX_AGE_SECONDS,
        poll_seconds: float = POLL_SECONDS,
    ):
        self._file = file
        self._log = log
        self._metrics = metrics
        self._max_age_seconds = max_age_seconds
        self._records: dict[str, KeyRecord] | None = None
        self._version: str | None = None
        self._state: tuple[int, int, int] | None = None  # of the file that was read last
        self._read_at = 0.0
        self._budget = Budget(MAX_REFRESHES_PER_SECOND, MAX_REFRESHES_PER_SECOND)
        self.last_error = ""
        self._poller = Poller(self._poll, poll_seconds)

    def find(self, sha256: str) -> KeyRecord | None:
        """Return the record of the key with this hash (hex), or None.

        Raises:
            StoreError: The records could never be read, or not for too long.
        """
        record = self.records().get(sha256)
        if record is None and not self.last_error and (self._poller.requested or self._budget.take()):
            self._poller.refresh(_REFRESH_TIMEOUT_SECONDS)  # the key may have been issued a moment ago
            record = self.records().get(sha256)
        return record

    def records(self) -> dict[str, KeyRecord]:
        """Return the records by hash.

        Raises:
            StoreError: The records could never be read, or not for too long.
        """
        if self._records is None:
            self._poller.refresh(_REFRESH_TIMEOUT_SECONDS)
        if self._records is None:
            raise StoreError(self.last_error or "the key records are still being read")
        if monotonic() > self._read_at + self._max_age_seconds:
            raise StoreError(f"the key records could not be read for {self._max_age_seconds:g} s: {self.last_error}")
        return self._records

    def _poll(self) -> None:
        started_at = monotonic()
        try:
            self._read_records()
            self._read_at, self.last_error = started_at, ""
        except Exception as error:  # whatever the error is, the next poll may succeed
            message = str(error) or repr(error)
            if self._records is not None and message != self.last_error:
                self._log.line(f"the last key records stay in force for {self._max_age_seconds:g} s: {message}")
            self.last_error = message
        self._metrics.flush()

    def _read_records(self) -> None:
        path = self._file.store.local_path(self._file.name)
        state = _state(path) if path else None
        if state is not None and state == self._state:
            return  # the same file: a change of a record renames another one into its place
        found = self._file.store.get_versioned(self._file.name)
        if found is None and self._version is not None:
            raise StoreError(f"{self._file.name} is missing from {self._file.store.location}")
        if found is None:
            self._records = {}
        elif found.etag != self._version:
            self._records = {record.sha256: record for record in parse_records(found.data)}
            self._version = found.etag
        self._state = state


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return what differs between two files that had the same path, or None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
