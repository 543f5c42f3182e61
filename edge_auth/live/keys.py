"""API keys: their form and their records.

Only the SHA-256 of a key is stored. A key has 190 random bits, so it cannot be guessed from a fast hash.
"""

import hashlib
import json
import re
import secrets
import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from edge_auth.errors import KeyFormatError
from edge_auth.live.log import timestamp
from edge_auth.store.interface import parse_json

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
ID_PREFIX, ID_DIGITS = "key_", 12


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
        return self.expires_at is not None and timestamp(now) > self.expires_at

    def public(self) -> dict[str, Any]:
        """Return the Key of the API: all fields except `sha256` and `revoked`."""
        return {name: getattr(self, name) for name in ("id", *_PUBLIC)}

    def to_bytes(self) -> bytes:
        """Return the content of the record's object. The hash is in its name."""
        fields = {name: getattr(self, name) for name in (*_PUBLIC, "revoked")}
        return json.dumps(fields, ensure_ascii=False).encode() + b"\n"

    @staticmethod
    def from_bytes(sha256: str, data: bytes) -> "KeyRecord":
        try:
            fields = parse_json(data)
            record = KeyRecord(sha256, **{name: fields[name] for name in (*_PUBLIC, "revoked")})
            return replace(record, scopes=tuple(record.scopes))._checked()
        except (ValueError, KeyError, TypeError) as error:
            name = ID_PREFIX + sha256[:ID_DIGITS]  # the log hides whole hashes
            raise KeyFormatError(
                f"the record of {name} cannot be read ({error}): restore or delete the file whose name begins with its "
                "digits"
            ) from error

    def _checked(self) -> "KeyRecord":
        texts = [self.name, self.prefix, self.created_at, *self.scopes]
        if not all(isinstance(text, str) for text in texts) or not isinstance(self.revoked, bool):
            raise TypeError("a field has the wrong type")
        if type(self.rate_limit) is not int or self.rate_limit < 1:
            raise ValueError("it has no rate limit of at least 1")
        if self.expires_at is not None and not _TIMESTAMP.fullmatch(self.expires_at):
            raise ValueError(f"it expires at {self.expires_at!r}, which is not a timestamp")
        return self


_PUBLIC = ("name", "prefix", "scopes", "rate_limit", "created_at", "expires_at")


def parse_expiry(text: str) -> str:
    """Return the timestamp that an operator means by a day (its last second) or by a timestamp (UTC without a zone)."""
    if _DAY.fullmatch(text):
        return datetime.fromisoformat(text).date().isoformat() + "T23:59:59Z"
    if not _MOMENT.fullmatch(text):
        raise ValueError(f"{text!r} is neither a day (2026-12-31) nor a timestamp (2026-12-31T12:00:00Z)")
    moment = datetime.fromisoformat(text)
    return timestamp((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def well_formed(key: str) -> bool:
    return _KEY.fullmatch(key) is not None


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def issue(
    name: str, scopes: Sequence[str], rate_limit: int, expires_at: str | None, now: float
) -> tuple[str, KeyRecord]:
    """Return a new key and its record. The key cannot be read from the record again."""
    key = KEY_PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(32))
    ordered = tuple(scope for scope in SCOPES if scope in scopes)
    return key, KeyRecord(
        digest(key), name, key[: len(KEY_PREFIX) + 4], ordered, rate_limit, timestamp(now), expires_at
    )
