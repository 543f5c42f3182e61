"""API keys: their form and their records.

Only the SHA-256 of a key is stored. A key has 190 random bits, so it cannot be guessed from a fast hash.
"""

import hashlib
import re
import secrets
import string
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of
from datetime import UTC, datetime
from typing import Any

from edge_auth.live.log import timestamp

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
_ID_PREFIX, _ID_DIGITS = "key_", 12


@dataclass(frozen=True, slots=True)
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

    def fields(self) -> dict[str, Any]:
        """Return all fields by name, as `asdict` does in ten times the time."""
        return {name: getattr(self, name) for name in _FIELDS}

    def public(self) -> dict[str, Any]:
        """Return the Key of the API: all fields except `sha256` and `revoked`."""
        return {name: value for name, value in self.fields().items() if name not in ("sha256", "revoked")}

    @staticmethod
    def from_fields(fields: dict[str, Any]) -> "KeyRecord":
        """Return the record with these fields.

        Raises:
            KeyError, TypeError, ValueError: A field is missing or has a wrong value.
        """
        record = KeyRecord(**{name: fields[name] for name in _FIELDS} | {"scopes": tuple(fields["scopes"])})
        texts = [record.id, record.name, record.prefix, record.sha256, record.created_at, *record.scopes]
        if not all(isinstance(text, str) for text in texts) or not isinstance(record.revoked, bool):
            raise TypeError(f"key {record.id!r} has a field of the wrong type")
        if type(record.rate_limit) is not int or record.rate_limit < 1:
            raise ValueError(f"key {record.id!r} has no rate limit of at least 1")
        if record.expires_at is not None and not _TIMESTAMP.fullmatch(record.expires_at):
            raise ValueError(f"key {record.id!r} expires at {record.expires_at!r}, which is not a timestamp")
        return record


_FIELDS = tuple(field.name for field in fields_of(KeyRecord))


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
    sha256 = digest(key)
    return key, KeyRecord(id_of(sha256), name, prefix, sha256, ordered, rate_limit, timestamp(now), expires_at)


def id_of(sha256: str) -> str:
    """Return the id of a new key. It tells where the record is; the ids of older keys are random."""
    return _ID_PREFIX + sha256[:_ID_DIGITS]
