"""API keys: their form, the records kept of them, and the file those records lie in.

    private/keys.json     {"format": 1, "keys": [record, …]}, outside every build: a rollback revives no key

Only the SHA-256 of a key is stored. A key has 190 random bits, so a fast hash is enough: there is nothing to guess.
"""

import hashlib
import json
import re
import secrets
import string
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from edge_auth.contract import layout
from edge_auth.contract.store.interface import Store
from edge_auth.contract.store.open import open_store, parent_and_name
from edge_auth.errors import Conflict, KeyFormatError, UnknownKey

FORMAT = 1
KEY_PREFIX = "cpm_live_"
WATCHLIST_READ, CARDS_READ, FINGERPRINTS_READ = "watchlist:read", "cards:read", "fingerprints:read"
SCOPES = (WATCHLIST_READ, CARDS_READ, FINGERPRINTS_READ)
DEFAULT_RATE_LIMIT = 120
_RETRIES = 100

_ALPHABET = string.ascii_letters + string.digits
_KEY = re.compile(KEY_PREFIX + "[A-Za-z0-9]{32}")
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(_DAY.pattern + r"[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?")
_TIMESTAMP = re.compile(_DAY.pattern + "T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


@dataclass(frozen=True)
class KeyRecord:
    """What is kept of one key. Timestamps are `YYYY-MM-DDTHH:MM:SSZ`; `rate_limit` is requests per minute."""

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
        """Whether `now` (Unix time) is past the last second in which the key is valid."""
        return self.expires_at is not None and timestamp(now) > self.expires_at

    def public(self) -> dict:
        """The Key of the API (specification, section 2): neither the hash nor whether it is revoked."""
        return {name: value for name, value in asdict(self).items() if name not in ("sha256", "revoked")}

    @staticmethod
    def from_fields(fields: dict) -> "KeyRecord":
        """Raises KeyError, TypeError or ValueError where the fields are no key record."""
        record = KeyRecord(**{name: fields[name] for name in KeyRecord.__dataclass_fields__})
        texts = [record.id, record.name, record.prefix, record.sha256, record.created_at, *record.scopes]
        if not all(isinstance(text, str) for text in texts) or not isinstance(record.revoked, bool):
            raise TypeError(f"key {record.id!r} has a field of the wrong type")
        if type(record.rate_limit) is not int or record.rate_limit < 1:
            raise ValueError(f"key {record.id!r} has no rate limit of at least 1")
        if record.expires_at is not None and not _TIMESTAMP.fullmatch(record.expires_at):
            raise ValueError(f"key {record.id!r} expires at {record.expires_at!r}, which is not a timestamp")
        return replace(record, scopes=tuple(record.scopes))


def timestamp(now: float) -> str:
    """Unix time as `YYYY-MM-DDTHH:MM:SSZ`, fractions cut."""
    return datetime.fromtimestamp(int(now), UTC).replace(tzinfo=None).isoformat() + "Z"


def parse_expiry(text: str) -> str:
    """The timestamp of a day (its end) or of a timestamp (UTC where it names no zone).

    Raises:
        ValueError: the text is neither.
    """
    if _DAY.fullmatch(text):
        return datetime.fromisoformat(text).date().isoformat() + "T23:59:59Z"
    if not _MOMENT.fullmatch(text):
        raise ValueError(f"{text!r} is neither a day (2026-12-31) nor a timestamp (2026-12-31T12:00:00Z)")
    moment = datetime.fromisoformat(text)
    return timestamp((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def well_formed(key: str) -> bool:
    """Whether a text has the form of a key."""
    return _KEY.fullmatch(key) is not None


def digest(key: str) -> str:
    """What is stored of a key: its SHA-256 in hex."""
    return hashlib.sha256(key.encode()).hexdigest()


def issue(
    name: str, scopes: Sequence[str], rate_limit: int, expires_at: str | None, now: float
) -> tuple[str, KeyRecord]:
    """A new key, which is known nowhere but here, and its record."""
    key = KEY_PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(32))
    ordered = tuple(scope for scope in SCOPES if scope in scopes)
    prefix = key[: len(KEY_PREFIX) + 4]
    id_ = "key_" + secrets.token_hex(6)
    return key, KeyRecord(id_, name, prefix, digest(key), ordered, rate_limit, timestamp(now), expires_at)


def parse_records(data: bytes) -> list[KeyRecord]:
    """The records in the bytes of a key file.

    Raises:
        KeyFormatError: the bytes are no key file, or one of a newer version.
    """
    try:
        document = json.loads(data)
        if document["format"] != FORMAT:
            raise ValueError(f"its format is {document['format']!r}, this version reads {FORMAT}")
        return [KeyRecord.from_fields(fields) for fields in document["keys"]]
    except (ValueError, KeyError, TypeError) as error:
        raise KeyFormatError(f"the key records cannot be read: {error}") from error


class KeyFile:
    """The file of key records, for those who change it."""

    def __init__(self, store: Store, name: str):
        self.store = store
        self.name = name

    def records(self) -> list[KeyRecord]:
        """All records in the order of their issue; none where there is no file yet."""
        found = self.store.get_versioned(self.name)
        return parse_records(found.data) if found else []

    def add(self, record: KeyRecord) -> None:
        """Append a record, unless it is there already: by a swap whose answer was lost, and after which came others."""
        self._change(lambda records: records if any(r.id == record.id for r in records) else [*records, record])

    def update(self, id_: str, **changes) -> KeyRecord:
        """Change fields of the record with that id, and return it as it is then.

        Raises:
            UnknownKey: there is none.
        """

        def changed(records: list[KeyRecord]) -> list[KeyRecord]:
            if all(record.id != id_ for record in records):
                raise UnknownKey(f"no key has the id {id_!r}: `cardpress keys list` shows them")
            return [replace(record, **changes) if record.id == id_ else record for record in records]

        return next(record for record in self._change(changed) if record.id == id_)

    def _change(self, edit: Callable[[list[KeyRecord]], list[KeyRecord]]) -> list[KeyRecord]:
        """Apply an edit to the newest records; anew where another operator was faster, so that none is lost."""
        for attempt in range(_RETRIES):
            found = self.store.get_versioned(self.name)
            records = edit(parse_records(found.data) if found else [])
            document = {"format": FORMAT, "keys": [asdict(record) for record in records]}
            data = json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"
            try:
                self.store.swap(self.name, data, found.etag if found else None)
                return records
            except Conflict:
                if attempt == _RETRIES - 1:
                    raise
        raise AssertionError("unreachable")


def open_key_file(store: str, keys: str | None = None, timeout_seconds: float | None = None) -> KeyFile:
    """Open the key file of a store, or the one at `keys`: a folder or prefix, or a path that ends in .json.

    Args:
        timeout_seconds: As for `open_store`.
    """
    if keys is None:
        return KeyFile(open_store(store, timeout_seconds), layout.KEYS)
    if keys.endswith(".json"):
        folder, name = parent_and_name(keys)
        return KeyFile(open_store(folder, timeout_seconds), name)
    return KeyFile(open_store(keys, timeout_seconds), layout.KEYS.removeprefix(layout.PRIVATE))
